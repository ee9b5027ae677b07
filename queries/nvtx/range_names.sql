/*---
name: range_names
version: 2
title: Names of NVTX ranges
summary: One row per NVTX range name, with count, CPU time and GPU work.
why: To see which names --nvtx can take, and which ones are outermost.
kind: sum
tags: [nvtx]
reads: [nvtx_name, nvtx_projection]
requires: [nvtx_projection]
columns:
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges of this name."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Sum of the CPU durations of the ranges. Nested ranges count again."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations launched inside the ranges, including nested ranges."}
  - {name: depth, type: int, unit: count, priority: 1, doc: "Smallest number of ranges around one of the ranges; 0 is the top."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: range_text, type: text, label: "message", priority: 3, doc: "Message without its domain; null if empty."}
  - {name: domain_name, type: text, label: "domain", priority: 3, doc: "Domain name; null for the default domain."}
  - {name: layer_name, type: text, label: "folded name", doc: "range_name with each number replaced by *; (unnamed) if range_name is null."}
checks:
  - range_count >= 1 AND depth >= 0
when_empty: "no NVTX range was recorded"
limits: >-
  Ranges that another thread ended are counted. Work launched by threads without ranges is in no range, unless you give
  --attribute process.
see_also: [nvtx_sum, nvtx_tree, range_time]
---*/
WITH
by_name AS MATERIALIZED (
  SELECT
    name_id,
    count(*) AS range_count,
    sum(dur_ns) AS cpu_ns,
    sum(op_count) AS op_count,
    min(depth) AS depth
  FROM nvtx_projection
  GROUP BY name_id
)
SELECT
  by_name.range_count,
  by_name.cpu_ns,
  by_name.op_count,
  by_name.depth,
  nvtx_name.range_name,
  nvtx_name.range_text,
  nvtx_name.domain_name,
  nvtx_name.layer_name
FROM nvtx_name
JOIN by_name
  ON by_name.name_id = nvtx_name.name_id
ORDER BY by_name.cpu_ns DESC, by_name.depth, nvtx_name.range_name, nvtx_name.domain_name, nvtx_name.name_id
