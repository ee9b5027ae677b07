/*---
name: nvtx_category_sum
version: 1
title: NVTX ranges by category and payload
summary: CPU time and numeric payloads of NVTX ranges per category of a domain.
why: To compare ranges of one name that differ in their category or payload, such as a batch size.
kind: sum
tags: [nvtx]
reads: [nvtx_range, report_source]
requires: [nvtx_range]
params:
  - {name: by_payload, type: bool, default: false, doc: "A row for each value of the payload."}
columns:
  - {name: category_name, type: text, label: "category", priority: 0, doc: "Name of the category; null if it has none."}
  - {name: category_id, type: id, priority: 3, doc: "Category ID, unique within its domain; null for ranges without a category."}
  - {name: domain_name, type: text, label: "domain", priority: 2, doc: "Domain name; null for the default domain."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges of the category."}
  - {name: name_count, type: int, unit: count, label: "names", priority: 3, doc: "Different names of these ranges."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the range durations. Nested ranges count again."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a range."}
  - {name: median_ns, type: duration, unit: ns, priority: 2, doc: "Median duration of a range; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest range."}
  - {name: payload_count, type: int, unit: count, label: "with payload", priority: 3, doc: "Ranges with a payload that is a number."}
  - {name: min_payload, type: real, label: "smallest payload", priority: 1, doc: "Smallest payload; null if there is none."}
  - {name: max_payload, type: real, label: "largest payload", priority: 1, doc: "Largest payload; null if there is none."}
  - {name: mean_payload, type: real, label: "mean payload", priority: 3, doc: "Mean payload; null if there is none."}
  - {name: total_payload, type: real, label: "sum of payloads", priority: 2, doc: "Sum of the payloads, such as bytes; null if there is none."}
checks:
  - range_count >= 1 AND payload_count BETWEEN 0 AND range_count AND name_count <= range_count
  - median_ns BETWEEN min_ns AND max_ns
  - (payload_count = 0) = (min_payload IS NULL)
when_empty: "no NVTX range has a category or a payload that is a number"
limits: >-
  Ranges without a category and without a numeric payload are left out; nvtx_sum has all ranges by name. Imported traces
  have no rows. Times are CPU times and include nested ranges. Categories of different processes with the same number,
  name and domain count as one. A category without a name has only its number. Marks are not counted: the relation
  nvtx_mark has their categories and payloads.
see_also: [nvtx_sum, range_time]
---*/
WITH
labelled AS (
  SELECT
    category_name,
    nullif(category_id, 0) AS category_id,
    domain_name,
    range_name,
    dur_ns,
    payload_value,
    CASE WHEN :by_payload THEN payload_value END AS payload_of_row
  FROM nvtx_range
  -- In a trace of PyTorch, and where nsq added its operators to an export, the payload is a sequence number.
  WHERE NOT (SELECT is_trace FROM report_source)
    AND coalesce(domain_name, '') <> 'cpu_op'
    AND (coalesce(category_id, 0) <> 0 OR payload_value IS NOT NULL)
)
SELECT
  category_name,
  category_id,
  domain_name,
  count(*) AS range_count,
  count(DISTINCT range_name) + max(range_name IS NULL) AS name_count,
  sum(dur_ns) AS total_ns,
  avg(dur_ns) AS mean_ns,
  median(dur_ns) AS median_ns,
  min(dur_ns) AS min_ns,
  max(dur_ns) AS max_ns,
  count(payload_value) AS payload_count,
  min(payload_value) AS min_payload,
  max(payload_value) AS max_payload,
  avg(payload_value) AS mean_payload,
  CASE WHEN count(payload_value) > 0 THEN total(payload_value) END AS total_payload
FROM labelled
GROUP BY domain_name, category_id, category_name, payload_of_row
ORDER BY total_ns DESC, domain_name, category_id, category_name, payload_of_row
