/*---
name: nvtx_mark
summary: One row per NVTX mark, a single point in time with a message.
present_if: [src_nvtx_event]
scope: {time: [start_ns, start_ns], process: pid, thread: global_tid}
reads: [all_nvtx_category, src_nvtx_event, src_string_id]
columns:
  - {name: mark_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Time of the mark, on the report's clock."}
  - {name: mark_text, type: text, doc: "Message; null if empty."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Category ID, unique within its domain; null or 0 if the mark has none."}
  - {name: category_name, type: text, doc: "Name of the category; null if it has none."}
  - {name: payload_value, type: real, doc: "Payload as a real number, so integers above 2^53 are rounded; null if there is none. Other payloads are in nvtx_payload."}
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
  (
    SELECT category.category_name
    FROM all_nvtx_category AS category
    WHERE category.category_id = src_nvtx_event.category
      AND category.domain_id = coalesce(src_nvtx_event.domainId, 0)
      AND category.pid = (src_nvtx_event.globalTid >> 24 & 16777215)
  ) AS category_name,
  CAST(
    coalesce(
      CASE WHEN uint64Value < 0 THEN uint64Value + 18446744073709551616.0 ELSE uint64Value END,
      int64Value,
      uint32Value,
      int32Value,
      doubleValue,
      floatValue
    )
    AS REAL
  ) AS payload_value,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvtx_event
WHERE eventType = 34
