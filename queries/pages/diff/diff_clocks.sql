/*---
name: diff_clocks
version: 1
title: Clocks compared
summary: The GPU clock of A and B during the steps, and what it explains.
why: To tell a slower program from a GPU that ran slower.
kind: info
tags: [gpu]
internal: true
reads: []
asks: [diff_whole, gpu_clocks]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
columns:
  - {name: a_hz, type: real, unit: hz, label: "A", priority: 1, doc: "Mean clock of the multiprocessors in A, over GPUs and runs."}
  - {name: b_hz, type: real, unit: hz, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_pct, type: percent, unit: percent, label: "relative change", priority: 1, doc: "Change of the clock, as a share of A's."}
  - {name: spread_a_pct, type: percent, unit: percent, label: "spread in A", priority: 2, doc: "Highest mean of a run of A above the lowest, as a share of the lowest."}
  - {name: spread_b_pct, type: percent, unit: percent, label: "spread in B", priority: 2, doc: "The same of B."}
  - {name: effect_ns, type: duration, unit: ns, label: "explained by the clock", priority: 1, doc: "Compute time of B at its own clock less that at A's clock, if compute takes as many cycles; null if the whole cannot be judged."}
  - {name: compute_change_ns, type: duration, unit: ns, label: "change of compute", priority: 1, doc: "Change of the compute time, per step or window; null if the whole cannot be judged."}
when_empty: "a side has no samples of its clocks"
limits: >-
  Kernels that wait for memory depend less on the clock: effect_ns is the most that it explains.
see_also: [gpu_clocks, diff_whole]
---*/
WITH
run AS (
  SELECT side >= :runs_a AS is_b, side, avg(mean_hz) AS hz
  FROM gpu_clocks
  WHERE clock = 'GPC'
  GROUP BY side
),
compute AS (
  SELECT b_ns, change_ns
  FROM diff_whole
  WHERE part = 'compute'
    AND verdict <> 'cannot tell'
)
SELECT
  avg(hz) FILTER (WHERE NOT is_b) AS a_hz,
  avg(hz) FILTER (WHERE is_b) AS b_hz,
  100.0 * (avg(hz) FILTER (WHERE is_b) / avg(hz) FILTER (WHERE NOT is_b) - 1) AS change_pct,
  100.0 * (max(hz) FILTER (WHERE NOT is_b) / min(hz) FILTER (WHERE NOT is_b) - 1) AS spread_a_pct,
  100.0 * (max(hz) FILTER (WHERE is_b) / min(hz) FILTER (WHERE is_b) - 1) AS spread_b_pct,
  CAST(
    round(max(b_ns) * (1 - avg(hz) FILTER (WHERE is_b) / avg(hz) FILTER (WHERE NOT is_b))) AS INTEGER
  ) AS effect_ns,
  max(change_ns) AS compute_change_ns
FROM run
LEFT JOIN compute
  ON 1
HAVING count(DISTINCT is_b) = 2
ORDER BY a_hz
