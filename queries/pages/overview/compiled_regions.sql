/*---
name: compiled_regions
version: 2
title: Graph breaks
summary: Regions that torch.compile made, and the idle time between them, in one row.
why: To see that Python runs between the parts of a compiled model while the GPU waits.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [idle_part, judged_window, nvtx_range, string]
requires: [idle_part, nvtx_range]
rows_if: "EXISTS (SELECT 1 FROM string WHERE text GLOB 'Torch-Compiled Region: *')"
params:
  - {name: least, type: int, default: 4, min: 1, doc: "Fewest regions of a step, and fewest names of regions."}
columns:
  - {name: region_count, type: real, unit: count, label: "regions a step", priority: 0, doc: "Regions in a step of a GPU, on average; without steps, in the whole window."}
  - {name: total_ns, type: duration, unit: ns, label: "idle between them", priority: 0, doc: "Idle time of the GPUs with the launching thread outside all regions."}
  - {name: idle_pct, type: percent, unit: percent, label: "% of idle time", priority: 0, doc: "total_ns as a share of the idle time before launches that were recorded."}
limits: Regions inside other regions count, too. One region that runs again and again, as for each layer, has no row. Only traces of PyTorch 2 and later have their names.
---*/
WITH
region AS MATERIALIZED (
  SELECT nvtx_range.start_ns, nvtx_range.end_ns, nvtx_range.range_text
  FROM nvtx_range
  JOIN (SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM judged_window) AS win
    ON nvtx_range.start_ns BETWEEN win.start_ns AND win.end_ns
  WHERE nvtx_range.range_text GLOB 'Torch-Compiled Region: *'
),
idle AS (
  SELECT
    sum(dur_ns) AS dur_ns,
    sum(dur_ns - overlap_ns((SELECT time_set(start_ns, end_ns) FROM region), start_ns, end_ns)) AS outside_ns
  FROM idle_part
  WHERE global_tid IS NOT NULL
),
step AS (
  SELECT sum(count) AS count
  FROM judged_window
)
SELECT
  1.0 * (SELECT count(*) FROM region) / step.count AS region_count,
  idle.outside_ns AS total_ns,
  100.0 * idle.outside_ns / nullif(idle.dur_ns, 0) AS idle_pct
FROM idle
CROSS JOIN step
WHERE (SELECT count(*) FROM region) >= :least * step.count
  -- A break leaves parts of other names. One region again and again is a loop of the program, as over micro-batches.
  AND (SELECT count(DISTINCT range_text) FROM region) >= :least
ORDER BY region_count
