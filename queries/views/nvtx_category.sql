/*---
name: nvtx_category
summary: One row per named NVTX category of a domain.
present_if: [src_nvtx_event]
reads: [src_nvtx_event, src_string_id]
columns:
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: domain_id, type: id, doc: "Domain ID, unique within its process; 0 is the default domain."}
  - {name: category_id, type: id, doc: "Category ID, unique within its domain."}
  - {name: category_name, type: text, doc: "Name that the program gave the category; null if empty."}
limits: Categories without a name have no row. A category that was named twice in one process has its first name.
---*/
SELECT
  pid,
  domain_id,
  category_id,
  category_name
FROM (
  SELECT
    globalTid >> 24 & 16777215 AS pid,
    coalesce(domainId, 0) AS domain_id,
    category AS category_id,
    coalesce(text, (SELECT value FROM src_string_id WHERE id = textId)) AS category_name,
    min(row_id) AS first_row
  FROM src_nvtx_event
  WHERE eventType = 33
    AND category IS NOT NULL
  GROUP BY globalTid >> 24 & 16777215, coalesce(domainId, 0), category
)
