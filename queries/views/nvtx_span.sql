/*---
name: nvtx_span
summary: One row per NVTX range as it was recorded, its names not yet looked up.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_nvtx_event]
columns:
  - {name: range_id, type: id, doc: "Row of the raw table: NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Range ended; null where the export has no end."}
  - {name: event_type, type: id, doc: "59 or 70 if it was pushed and popped, 60 or 71 if started and ended; 70 and 71 were imported."}
  - {name: text_id, type: id, doc: "Message that was registered, of the relation string; null if it was given as text."}
  - {name: text, type: text, doc: "Message that was given as text; null if it was registered or empty."}
  - {name: domain_id, type: id, doc: "Number of the domain within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Number of the category within its domain; null or 0 if none."}
  - {name: int64_value, type: int, doc: "Payload that was given as a signed integer; PyTorch's sequence number in an imported trace; else null."}
  - {name: end_global_tid, type: id, doc: "Thread that ended the range, where another one started it; else null."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: What people read is nvtx_range; this is what it is made from.
---*/
SELECT
  row_id AS range_id,
  start AS start_ns,
  "end" AS end_ns,
  eventType AS event_type,
  textId AS text_id,
  text,
  domainId AS domain_id,
  category AS category_id,
  int64Value AS int64_value,
  endGlobalTid AS end_global_tid,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvtx_event
-- Two short lists: SQLite compares with the two of each, and would look a longer one up in a table.
WHERE eventType IN (59, 60) OR eventType IN (70, 71)
