/*---
name: nvtx_span
summary: One row per NVTX range as recorded, with names as IDs.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [scope, src_nvtx_event]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table; NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range; null if the export has no end for the range."}
  - {name: event_type, type: id, doc: "59 or 70 for a push/pop range, 60 or 71 for a start/end range. 70 and 71 are imported ranges."}
  - {name: text_id, type: id, doc: "Registered message, an ID in the relation string; null if the message was given as text."}
  - {name: text, type: text, doc: "Message given as text; null if registered or empty."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 or null is the default domain."}
  - {name: category_id, type: id, doc: "Category ID, unique within its domain; null or 0 if the range has none."}
  - {name: int64_value, type: int, doc: "Payload as a signed 64-bit integer, or PyTorch's sequence number in an imported trace; otherwise null."}
  - {name: payload_value, type: real, doc: "Payload as a real number, so integers above 2^53 are rounded; null if there is none. In an imported trace, it is int64_value."}
  - {name: end_global_tid, type: id, doc: "Thread that ended the range, if it is not the thread that started it; otherwise null."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: nvtx_range is made from it. Read nvtx_range instead, unless you need int64_value.
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
  endGlobalTid AS end_global_tid,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvtx_event
-- Short lists are faster: SQLite compares two values directly, and builds a lookup table for more.
WHERE (eventType IN (59, 60) OR eventType IN (70, 71))
  AND (
    (
      ("end" IS NULL OR "end" - start BETWEEN 0 AND 1000000000000000)
      AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    )
    OR (SELECT as_recorded FROM scope)
  )
