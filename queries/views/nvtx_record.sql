/*---
name: nvtx_record
summary: One row per NVTX range or domain as it was recorded, its names not yet looked up.
present_if: [src_nvtx_event]
reads: [src_nvtx_event]
columns:
  - {name: record_id, type: id, doc: "Row of the raw table: of a range NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began or domain was created, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Range ended; null of a domain, and where the export has no end."}
  - {name: event_type, type: id, doc: "59 or 70 if it was pushed and popped, 60 or 71 if started and ended; 70 and 71 were imported; 75 of a domain."}
  - {name: text_id, type: id, doc: "Message or domain's name that was registered, of the relation string; null if it was given as text."}
  - {name: text, type: text, doc: "Message or domain's name that was given as text; null if it was registered or empty."}
  - {name: domain_id, type: id, doc: "Number of the domain within its process; 0 or null is the default domain."}
  - {name: end_global_tid, type: id, doc: "Thread that ended the range, where another one started it; else null."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: What people read is nvtx_range and nvtx_domain; this is what the projection reads in one go.
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
-- Short lists: SQLite compares with the two of each, and would look a longer one up in a table.
WHERE eventType IN (59, 60) OR eventType IN (70, 71) OR eventType IN (75)
