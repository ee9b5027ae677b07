/*---
name: nvtx_domain
summary: One row per NVTX domain of a process.
stored: true
present_if: [src_nvtx_event]
reads: [src_nvtx_event, src_string_id]
columns:
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process."}
  - {name: domain_name, type: text, doc: "Name given when the domain was created; null if empty."}
limits: The default domain has no row. A domain that was created twice in one process has its first name.
---*/
SELECT
  pid,
  domain_id,
  domain_name
FROM (
  SELECT
    globalTid >> 24 & 16777215 AS pid,
    domainId AS domain_id,
    coalesce(text, (SELECT value FROM src_string_id WHERE id = textId)) AS domain_name,
    min(row_id) AS first_row
  FROM src_nvtx_event
  WHERE eventType = 75
  GROUP BY globalTid >> 24 & 16777215, domainId
)
