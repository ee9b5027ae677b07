/*---
name: diff_costs
version: 1
title: Costs of what is compared
summary: Each pair in each run, with the cost of its calls and the error of that.
why: To tell a change from noise.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_strata]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: section, type: text, priority: 0, doc: "kernels, memory, layers, layers_cpu or api."}
  - {name: pair_id, type: id, priority: 0, doc: "Number of the pair in diff_pairs."}
  - {name: run, type: int, priority: 0, doc: "Position of the run, from 0."}
  - {name: is_b, type: bool, label: "B", priority: 1, doc: "Whether the run belongs to B."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Calls of the run."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Their time."}
  - {name: judged_ns, type: duration, unit: ns, label: "judged time", priority: 1, doc: "The part of total_ns that is compared."}
  - {name: single_ns, type: duration, unit: ns, label: "single calls", priority: 2, doc: "The part of judged_ns that is single calls, whose spread is unknown."}
  - {name: cost_ns, type: duration, unit: ns, priority: 1, doc: "Cost of B's calls of a unit at the mean times of this run; the run's time per unit for a pair that is compared by its sum. Null if nothing is judged."}
  - {name: error_ns, type: duration, unit: ns, priority: 1, doc: "Standard error of cost_ns, if the errors of all calls go in the same direction; null if nothing is judged."}
  - {name: freedom_ns, type: duration, unit: ns, priority: 3, doc: "error_ns divided by the square root of its degrees of freedom; null if nothing is judged."}
  - {name: change_ns, type: duration, unit: ns, label: "share of the change", priority: 3, doc: "Time per unit, negative for A and divided by the runs of the side: adds up to the change of the pair."}
  - {name: calls_effect_ns, type: duration, unit: ns, label: "share of the effect of calls", priority: 3, doc: "As change_ns, at A's mean times and for what is like with like."}
  - {name: other_effect_ns, type: duration, unit: ns, label: "share of other effects", priority: 3, doc: "As change_ns, for what is not like with like."}
  - {name: is_by_total, type: bool, label: "by sum", priority: 2, doc: "Whether the pair is compared by its sum."}
  - {name: differs, type: bool, priority: 3, doc: "Whether calls or times of the pair differ between the sides."}
  - {name: class, type: text, priority: 2, doc: "Class of the pair's kernels; mixed if there are several."}
  - {name: collective, type: text, priority: 2, doc: "Collective of the pair's kernels; null if it is not communication."}
checks:
  - judged_ns <= total_ns AND single_ns <= judged_ns
limits: >-
  The errors of a run are taken as fully correlated, because a clock that drifts changes all of its work.
see_also: [diff_strata, diff_rows]
---*/
WITH
weighed AS (
  SELECT
    *,
    is_by_total OR is_like AS is_judged,
    iif(is_by_total, 1.0 / unit_count, 1.0 * calls_b / units_b / calls) AS per_total,
    iif(is_b, 1.0 / units_b, -1.0 / units_a) AS per_side,
    1.0 * total_a_ns / nullif(calls_a, 0) AS mean_a_ns
  FROM diff_strata
),
differing AS (
  SELECT DISTINCT pair_id
  FROM (
    SELECT pair_id
    FROM weighed
    GROUP BY pair_id, shape
    HAVING sum(calls * is_b) * max(units_a) <> sum(calls * (NOT is_b)) * max(units_b)
      OR sum(total_ns * is_b) * max(units_a) <> sum(total_ns * (NOT is_b)) * max(units_b)
  )
)
SELECT
  section,
  pair_id,
  run,
  is_b,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  coalesce(sum(total_ns) FILTER (WHERE is_judged), 0) AS judged_ns,
  coalesce(sum(single_ns) FILTER (WHERE is_judged), 0) AS single_ns,
  sum(total_ns * per_total) FILTER (WHERE is_judged) AS cost_ns,
  sum(error_ns * per_total) FILTER (WHERE is_judged) AS error_ns,
  sum(freedom_ns * per_total) FILTER (WHERE is_judged) AS freedom_ns,
  sum(total_ns * per_side) AS change_ns,
  total(iif(is_like, calls * mean_a_ns * per_side, 0)) AS calls_effect_ns,
  total(iif(is_like, 0, total_ns * per_side)) AS other_effect_ns,
  is_by_total,
  pair_id IN (SELECT pair_id FROM differing) AS differs,
  class,
  max(collective) AS collective
FROM weighed
GROUP BY section, pair_id, run, is_b, is_by_total, class
ORDER BY section, pair_id, run, is_b
