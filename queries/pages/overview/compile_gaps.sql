/*---
name: compile_gaps
version: 1
title: Idle time of a compiler
summary: Time of the host in long gaps in which it also loads a module.
why: To see that a GPU waits for code that is compiled again and again, as for each new shape.
kind: info
tags: [cuda, gpu]
internal: true
reads: [compute_gap_part]
requires: [compute_gap_part]
params:
  - {name: least_gap, type: duration, default: 500us, min: 0, doc: "Shortest gap to count."}
  - {name: least_load, type: duration, default: 20us, min: 0, doc: "Shortest time in a call that loads a module."}
columns:
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 0, doc: "Gaps in which the launching thread loads a module and runs other code for longer than that; three or more."}
  - {name: host_ns, type: duration, unit: ns, label: "host code", priority: 0, doc: "Time outside the CUDA API in these gaps."}
  - {name: host_pct, type: percent, unit: percent, label: "% of host code in gaps", priority: 1, doc: "host_ns as a share of that time in all gaps of least_gap or more."}
  - {name: load_count, type: int, unit: count, label: "loads", priority: 1, doc: "Calls of cuModuleLoadData and similar functions in these gaps."}
checks:
  - gap_count >= 3
  - load_count >= gap_count
limits: A program that reads compiled code from a file does other work in these gaps, too.
see_also: [jit_and_module_load, host_work]
---*/
WITH
-- Names are read for few intervals only.
load AS MATERIALIZED (
  SELECT gpu_id, gap_start_ns, sum(dur_ns) AS load_ns, count(DISTINCT call_start_ns) AS load_count
  FROM compute_gap_part
  WHERE part = 'other API call'
    AND dur_ns >= :least_load
    AND gap_ns >= :least_gap
    AND (api_name GLOB 'cuModuleLoadData*' OR api_name GLOB 'cuLibraryLoadData*')
  GROUP BY gpu_id, gap_start_ns
),
gap AS (
  SELECT
    part.gpu_id,
    part.gap_start_ns,
    sum(part.dur_ns) AS host_ns,
    load.load_ns,
    coalesce(load.load_count, 0) AS load_count
  FROM compute_gap_part AS part
  LEFT JOIN load
    ON load.gpu_id = part.gpu_id
    AND load.gap_start_ns = part.gap_start_ns
  WHERE part.part = 'outside CUDA API'
    AND part.gap_ns >= :least_gap
    AND (SELECT count(*) FROM load) >= 3
  GROUP BY part.gpu_id, part.gap_start_ns
)
SELECT
  count(*) FILTER (WHERE load_count > 0 AND host_ns > load_ns) AS gap_count,
  sum(iif(load_count > 0 AND host_ns > load_ns, host_ns, 0)) AS host_ns,
  100.0 * sum(iif(load_count > 0 AND host_ns > load_ns, host_ns, 0)) / sum(host_ns) AS host_pct,
  sum(iif(load_count > 0 AND host_ns > load_ns, load_count, 0)) AS load_count
FROM gap
HAVING count(*) FILTER (WHERE load_count > 0 AND host_ns > load_ns) >= 3
ORDER BY gap_count
