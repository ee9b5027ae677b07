/*---
name: nvtx_mark
summary: One row per NVTX mark, a single point in time with a message.
present_if: [src_nvtx_event]
scope: {time: [start_ns, start_ns], process: pid, thread: global_tid}
reads: [src_nvtx_event, src_string_id]
columns:
  - {name: mark_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Time of the mark, on the report's clock."}
  - {name: mark_text, type: text, doc: "Message; null if empty."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Category ID, unique within its domain; null or 0 if the mark has none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS mark_id,
  start AS start_ns,
  coalesce((SELECT value FROM src_string_id WHERE id = textId), text) AS mark_text,
  domainId AS domain_id,
  category AS category_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvtx_event
WHERE eventType = 34
