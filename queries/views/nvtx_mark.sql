/*---
name: nvtx_mark
summary: One row per NVTX mark, an instant with a message.
present_if: [src_nvtx_event]
scope: {time: [start_ns, start_ns], process: pid, thread: global_tid}
reads: [src_nvtx_event, src_string_id]
columns:
  - {name: mark_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Instant of the mark, on the report's clock."}
  - {name: mark_text, type: text, doc: "Message; null if empty."}
  - {name: domain_id, type: id, doc: "Number of the domain within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Number of the category within its domain; null or 0 if none."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
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
