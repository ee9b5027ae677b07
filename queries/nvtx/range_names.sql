/*---
name: range_names
version: 1
title: Names of NVTX ranges
summary: One row per name of NVTX ranges - how many, how long, with how much GPU work.
why: To see what --nvtx can be given, and which names stand at the top.
kind: sum
tags: [nvtx]
reads: [nvtx_name, nvtx_projection]
requires: [nvtx_projection]
columns:
  - {name: range_count, type: int, unit: count, doc: "Ranges of this name."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of their lengths on the CPU; ranges inside others count again."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside them, those of ranges within included."}
  - {name: depth, type: int, unit: count, doc: "Fewest ranges above one of them: 0 at the top."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: range_text, type: text, doc: "Message alone; null if empty."}
  - {name: domain_name, type: text, doc: "Name of the domain; null for the default domain."}
  - {name: layer_name, type: text, doc: "range_name with numbers folded to *; (unnamed) if it is null."}
checks:
  - range_count >= 1 AND depth >= 0
limits: >-
  Counts ranges that another thread ended. What threads without ranges launch is in none, unless --attribute process says so.
see_also: [nvtx_sum, nvtx_tree, range_time]
---*/
WITH
by_name AS (
  SELECT
    name_id,
    count(*) AS range_count,
    sum(dur_ns) AS cpu_ns,
    sum(op_count) AS op_count,
    min(depth) AS depth
  FROM nvtx_projection
  GROUP BY name_id
  LIMIT -1
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
ORDER BY by_name.depth, by_name.cpu_ns DESC, nvtx_name.range_name, nvtx_name.domain_name, nvtx_name.name_id
