/*---
name: unfinished
summary: One row per NVTX range, CUDA call or GPU operation that the report has no end of.
present_if: [src_nvtx_event, suspect_event]
reads: [all_nvtx_range, suspect_event]
columns:
  - {name: event_kind, type: text, doc: "Kind of event: range, call, kernel, memcpy, memset, graph or sync."}
  - {name: row_id, type: id, doc: "Row ID in the raw table of this event_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the event, on the report's clock."}
  - {name: event_name, type: text, doc: "Name of the range, call or kernel; null for other events."}
  - {name: is_counted, type: bool, doc: "1 for a range, which counts as open until the last range or CUDA call; 0 for other events, which all relations leave out."}
  - {name: pid, type: id, doc: "Operating system process ID."}
limits: >-
  Work that is launched in a range without an end is in the range. Queries about the time of each range, such as
  range_time, leave the range out, because its length is unknown. In queries with the name of an NVIDIA report, it lasts
  until the last range, as in NVIDIA's report. Whole capture: no scope option acts on it.
---*/
SELECT 'range' AS event_kind, range_id AS row_id, start_ns, range_name AS event_name, 1 AS is_counted, pid
FROM all_nvtx_range
WHERE is_open
UNION ALL
SELECT event_kind, row_id, start_ns, event_name, 0, pid
FROM suspect_event
WHERE reason = 'no end'
