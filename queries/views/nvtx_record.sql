/*---
name: nvtx_record
summary: One row per NVTX range or domain as recorded, with names as IDs.
present_if: [src_nvtx_event]
reads: [scope, src_nvtx_event]
columns:
  - {name: record_id, type: id, doc: "Row ID in the raw table; for a range, NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range or creation of the domain, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range; null for a domain, or if the export has no end for the range."}
  - {name: event_type, type: id, doc: "59 or 70 for a push/pop range, 60 or 71 for a start/end range, 75 for a domain. 70 and 71 are imported ranges."}
  - {name: text_id, type: id, doc: "Registered message or domain name, an ID in the relation string; null if it was given as text."}
  - {name: text, type: text, doc: "Message or domain name given as text; null if registered or empty."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 or null is the default domain."}
  - {name: end_global_tid, type: id, doc: "Thread that ended the range, if it is not the thread that started it; otherwise null."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: For internal use by nvtx_projection. Read nvtx_range and nvtx_domain instead.
---*/
SELECT
  row_id AS record_id,
  start AS start_ns,
  "end" AS end_ns,
  eventType AS event_type,
  textId AS text_id,
  text,
  domainId AS domain_id,
  endGlobalTid AS end_global_tid,
  globalTid AS global_tid
FROM src_nvtx_event
-- Short lists are faster: SQLite compares two values directly, and builds a lookup table for more.
WHERE (eventType IN (59, 60) OR eventType IN (70, 71) OR eventType IN (75))
  AND (
    (
      ("end" IS NULL OR "end" - start BETWEEN 0 AND 1000000000000000)
      AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    )
    OR eventType = 75
    OR (SELECT as_recorded FROM scope)
  )
