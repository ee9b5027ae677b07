/*---
name: nvtx_range
summary: One row per NVTX range, push/pop or start/end.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [all_cuda_call, all_nvtx_category, all_nvtx_domain, all_nvtx_span, scope, src_string_id]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table; NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_kind, type: text, doc: "Kind of range: PushPop or StartEnd."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: range_text, type: text, doc: "Message without its domain; null if empty."}
  - {name: domain_name, type: text, doc: "Domain name; null for the default domain."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Category ID, unique within its domain; null or 0 if the range has none."}
  - {name: category_name, type: text, doc: "Name of the category; null if it has none."}
  - {name: payload_value, type: real, doc: "Payload as a real number, so integers above 2^53 are rounded; null if there is none. In an imported trace, it is PyTorch's sequence number. Other payloads are in nvtx_payload."}
  - {name: is_open, type: bool, doc: "1 if the export has no end for the range; end_ns is then the end of the last range or CUDA call. The relation unfinished lists these ranges."}
  - {name: end_global_tid, type: id, doc: "Thread that ended the range, if it is not the thread that started it; otherwise null."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  A range that was never popped usually ends with the capture, and nothing marks it. In queries with the name of an NVIDIA
  report, a range without an end lasts until the last range, as in NVIDIA's report.
---*/
WITH
last_range AS (
  SELECT max(end_ns) AS end_ns
  FROM (
    SELECT max(max(start_ns, coalesce(end_ns, start_ns))) AS end_ns
    FROM all_nvtx_span
    UNION ALL
    SELECT max(end_ns)
    FROM all_cuda_call
    WHERE NOT (SELECT as_recorded FROM scope)
  )
),
range AS (
  SELECT
    *,
    coalesce(end_ns, (SELECT end_ns FROM last_range)) AS closed_ns,
    coalesce((SELECT value FROM src_string_id WHERE id = text_id), text) AS range_text
  FROM all_nvtx_span
)
SELECT
  range.range_id,
  range.start_ns,
  range.closed_ns AS end_ns,
  range.closed_ns - range.start_ns AS dur_ns,
  CASE WHEN range.event_type IN (59, 70) THEN 'PushPop' ELSE 'StartEnd' END AS range_kind,
  CASE
    WHEN domain.domain_id IS NULL THEN range.range_text
    ELSE domain.domain_name || ':' || range.range_text
  END AS range_name,
  range.range_text,
  domain.domain_name,
  range.domain_id,
  range.category_id,
  (
    SELECT category.category_name
    FROM all_nvtx_category AS category
    WHERE category.category_id = range.category_id
      AND category.domain_id = coalesce(range.domain_id, 0)
      AND category.pid = range.pid
  ) AS category_name,
  range.payload_value,
  range.end_ns IS NULL AS is_open,
  range.end_global_tid,
  range.pid,
  range.tid,
  range.global_pid,
  range.global_tid
FROM range
LEFT JOIN all_nvtx_domain AS domain
  ON domain.domain_id = range.domain_id
  AND domain.pid = range.pid
