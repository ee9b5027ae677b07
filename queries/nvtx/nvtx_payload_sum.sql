/*---
name: nvtx_payload_sum
version: 1
title: Fields of NVTX payloads
summary: "Fields of structured NVTX payloads by message: count, sum, mean and extremes."
why: To see what a program says about its ranges and marks, such as sizes and ranks, without a query of your own.
kind: sum
tags: [nvtx]
reads: [nvtx_mark, nvtx_payload, nvtx_range]
requires: [nvtx_range]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the message of the range or mark, without its domain."}
  - {name: field, type: text, default: "*", doc: "GLOB pattern for the name of the field."}
columns:
  - {name: message, type: text, priority: 0, doc: "Message of the ranges or marks, without its domain; null if empty."}
  - {name: field, type: text, priority: 0, doc: "Name of the field in the payload."}
  - {name: domain_name, type: text, label: "domain", priority: 3, doc: "Domain name of the ranges; null for the default domain and for marks."}
  - {name: is_mark, type: bool, label: "mark", priority: 3, doc: "1 for marks, 0 for ranges."}
  - {name: payload_count, type: int, unit: count, label: "payloads", priority: 1, doc: "Payloads with the field, also where its value is null."}
  - {name: value_count, type: int, unit: count, label: "values", priority: 2, doc: "Different values."}
  - {name: total_value, type: real, label: "sum", priority: 1, doc: "Sum of the values that are numbers; null if none is."}
  - {name: mean_value, type: real, label: "mean", priority: 1, doc: "Mean of the values that are numbers; null if none is."}
  - {name: min_value, type: real, label: "smallest", priority: 1, doc: "Smallest number; null if there is none."}
  - {name: max_value, type: real, label: "largest", priority: 1, doc: "Largest number; null if there is none."}
  - {name: example, type: text, priority: 2, doc: "The first text in alphabetical order, or the nested value as JSON; null if all values are numbers or null."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 2, doc: "Sum of the durations of the ranges; null for marks. Nested ranges count again."}
checks:
  - payload_count >= 1 AND value_count <= payload_count
  - (min_value IS NULL) = (max_value IS NULL)
when_empty: "no NVTX range or mark has a structured payload, or no message or field matches"
limits: >-
  Payloads that are one number have no fields: nvtx_category_sum has them. From payloads as bytes, numbers with a
  fraction and texts are not decoded: export with --include-json=true. Of nested fields, only the outermost name is a
  row. Messages with numbers in them are rows of their own.
see_also: [nvtx_category_sum, nccl_sum]
---*/
WITH
value AS MATERIALIZED (
  SELECT
    payload.range_id,
    field.key AS field,
    field.type,
    field.value
  FROM nvtx_payload AS payload
  CROSS JOIN json_each(payload.payload) AS field
  WHERE json_type(payload.payload) = 'object'
    AND field.key GLOB :field
),
named AS (
  SELECT
    value.*,
    nvtx_range.range_text AS message,
    nvtx_range.domain_name,
    nvtx_range.dur_ns,
    0 AS is_mark
  FROM value
  JOIN nvtx_range
    ON nvtx_range.range_id = value.range_id
  UNION ALL
  SELECT value.*, nvtx_mark.mark_text, NULL, NULL, 1
  FROM value
  JOIN nvtx_mark
    ON nvtx_mark.mark_id = value.range_id
)
SELECT
  message,
  field,
  domain_name,
  is_mark,
  count(*) AS payload_count,
  count(DISTINCT value) AS value_count,
  iif(count(iif(type IN ('integer', 'real'), 1, NULL)) = 0, NULL, total(iif(type IN ('integer', 'real'), value, 0)))
    AS total_value,
  avg(iif(type IN ('integer', 'real'), value, NULL)) AS mean_value,
  min(iif(type IN ('integer', 'real'), 1.0 * value, NULL)) AS min_value,
  max(iif(type IN ('integer', 'real'), 1.0 * value, NULL)) AS max_value,
  min(iif(type IN ('text', 'array', 'object'), value, NULL)) AS example,
  sum(dur_ns) AS total_ns
FROM named
WHERE coalesce(message, '') GLOB :range
GROUP BY message, field, domain_name, is_mark
ORDER BY payload_count DESC, message, domain_name, is_mark, field
