/*---
name: diff_verdict
version: 4
title: Verdict
summary: Whether B is slower than A, and whether it may pass a gate.
why: To decide on a change at one look, and in CI.
kind: info
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_costs, diff_regressions, diff_rows, diff_runs, diff_strata, diff_whole]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
  - {name: gate, type: real, min: 0, doc: "Percent by which something must be slower to be a regression; any slowdown beyond noise if not set."}
  - {name: gate_parts, type: bool, default: false, doc: "Whether a slower part is a regression whatever the whole is."}
  - {name: gate_api, type: bool, default: false, doc: "Whether slower API functions are regressions."}
  - {name: least_judged, type: real, default: 50, min: 0, max: 100, doc: "Share of the time, in percent, that must be comparable for a verdict."}
columns:
  - {name: verdict, type: text, priority: 0, doc: "slower, faster, within noise or cannot tell, for the time of a step or of the window."}
  - {name: outcome, type: text, priority: 0, doc: "failed: there is a regression. passed: there is none, one of the size of the gate can be detected, and with its noise the change is below the gate: with several runs a side at ten times the confidence, with steps of one run at a hundred times. Else inconclusive. Where the whole cannot be judged, its kernels are, if least_judged of the time is comparable."}
  - {name: per, type: text, priority: 1, doc: "step or window; null without GPU work on both sides."}
  - {name: a_ns, type: duration, unit: ns, label: "time in A", priority: 1, doc: "Time of a step or of the window in A."}
  - {name: b_ns, type: duration, unit: ns, label: "time in B", priority: 1, doc: "The same in B."}
  - {name: change_pct, type: percent, unit: percent, label: "relative change", priority: 1, doc: "Change of the time, as a share of A's."}
  - {name: noise_pct, type: percent, unit: percent, label: "noise bound", priority: 1, doc: "The noise bound; null if it is unknown."}
  - {name: detectable_pct, type: percent, unit: percent, label: "smallest detectable change", priority: 2, doc: "The smallest change of the time that would be found in 95 of 100 comparisons."}
  - {name: noise_from, type: text, label: "noise from", priority: 2, doc: "runs, steps or calls; null if the noise is unknown."}
  - {name: judged_pct, type: percent, unit: percent, label: "comparable share of time", priority: 1, doc: "Share of the time of kernels, copies and fills that could be compared, without GPU work of the time of layers: the smaller of the shares in A and B."}
  - {name: is_same_work, type: bool, label: "same work", priority: 2, doc: "Whether both sides do the same work per step, or in all."}
  - {name: same_calls_pct, type: percent, unit: percent, label: "calls in both", priority: 3, doc: "The smaller call count of each kernel, copy and fill as a share of the larger."}
  - {name: is_equal, type: bool, label: "equal", priority: 2, doc: "Whether the time and all its parts are equal to the nanosecond, as those of one run given twice."}
  - {name: regression_count, type: int, unit: count, label: "regressions", priority: 1, doc: "Regressions that count."}
  - {name: offset_count, type: int, unit: count, label: "offset regressions", priority: 1, doc: "Slower parts that are only reported, because the whole can be judged."}
  - {name: runs_a, type: int, unit: count, label: "runs of A", priority: 2, doc: "Reports on side A."}
  - {name: runs_b, type: int, unit: count, label: "runs of B", priority: 2, doc: "Reports on side B."}
  - {name: runs_needed, type: int, unit: count, label: "runs needed", priority: 2, doc: "Runs a side with which these spreads and this change would be conclusive: for the gate, or for a change of 1 % without one. Null if they are already, if more than 1000 would be needed, with one run a side, and for a gate of 0."}
  - {name: steps_needed, type: int, unit: count, label: "steps needed", priority: 2, doc: "The same in steps of a run, if one run a side is compared by its steps; null if more than 100 000 would be needed."}
checks:
  - outcome IN ('failed', 'passed', 'inconclusive')
limits: >-
  The numbers of runs and steps needed assume that more runs and steps vary as much as these, and that a change within
  noise is none, unless the noise alone would let the gate pass: then it counts. Steps of one run do not show how runs
  differ.
see_also: [diff_whole, diff_rows, diff_regressions]
---*/
WITH
equal AS MATERIALIZED (
  SELECT count(*) > 0 AND sum(change_ns <> 0) = 0 AS is_equal
  FROM diff_whole
),
whole AS MATERIALIZED (
  SELECT *
  FROM diff_whole
  WHERE part = 'time'
),
cost AS MATERIALIZED (
  SELECT
    cost.section,
    cost.is_b,
    cost.total_ns,
    cost.judged_ns - iif(diff_rows.verdict = 'cannot tell', cost.judged_ns, 0) AS judged_ns
  FROM diff_costs AS cost
  LEFT JOIN diff_rows
    ON diff_rows.pair_id = cost.pair_id
),
judged AS (
  SELECT min(100.0 * judged_ns / nullif(total_ns, 0)) AS judged_pct
  FROM (
    SELECT is_b, sum(judged_ns) AS judged_ns, sum(total_ns) AS total_ns
    FROM cost
    WHERE iif(
      EXISTS (SELECT 1 FROM cost WHERE section IN ('kernels', 'memory')),
      section IN ('kernels', 'memory'),
      section IN ('layers', 'layers_cpu')
    )
    GROUP BY is_b
  )
),
found AS (
  SELECT
    count(*) FILTER (WHERE NOT is_offset) AS regression_count,
    count(*) FILTER (WHERE is_offset) AS offset_count
  FROM diff_regressions
),
-- To pass takes more certainty than to be found: one run does not show how the next one differs.
sure AS MATERIALIZED (
  SELECT
    sure_confidence,
    100.0 * error_ns / nullif(a_ns, 0) * coalesce(student_bound(sure_confidence, freedom), 0) AS sure_pct
  FROM (
    SELECT
      *,
      100 - (100 - :confidence) / CASE noise_from WHEN 'steps' THEN 100 WHEN 'runs' THEN 10 ELSE 1 END
        AS sure_confidence
    FROM whole
  )
),
run AS MATERIALIZED (
  SELECT sum(NOT is_b) AS runs_a, sum(is_b) AS runs_b, min(iteration_count) AS steps
  FROM diff_runs
),
few AS (
  SELECT
    CASE noise_from WHEN 'runs' THEN min(runs_a, runs_b) ELSE steps END AS first,
    iif(noise_from = 'runs', 1000, 100000) AS most,
    100.0 * error_ns / a_ns AS error_pct,
    freedom,
    coalesce(:gate, 1) AS limit_pct,
    -- A change that noise may explain counts only if the noise alone would let the gate pass.
    CASE
      WHEN :gate > 0 AND verdict = 'slower' THEN change_pct
      WHEN max(detectable_pct, sure_pct) <= :gate AND change_pct BETWEEN 0 AND :gate THEN change_pct
      ELSE 0
    END AS change_pct,
    sure_confidence
  FROM whole
  CROSS JOIN run
  CROSS JOIN sure
  WHERE noise_from IN ('runs', 'steps')
    AND a_ns > 0
    -- No runs show that nothing is slower.
    AND coalesce(:gate, 1) > 0
),
-- The error and its degrees of freedom with more runs or steps, until they are enough.
more AS (
  SELECT *, first AS count, error_pct AS less_pct, max(freedom, 1) AS more_freedom
  FROM few
  WHERE change_pct < limit_pct
  UNION ALL
  SELECT
    first,
    most,
    error_pct,
    freedom,
    limit_pct,
    change_pct,
    sure_confidence,
    count + 1 + count / 20,
    sqrt(1.0 * first / (count + 1 + count / 20)) * error_pct,
    max(freedom * (count + count / 20) / max(first - 1, 1), 1)
  FROM more
  WHERE count <= most
    AND NOT (
      less_pct * (student_bound(:confidence, more_freedom) + student_bound(90, more_freedom)) <= limit_pct
      AND less_pct * student_bound(sure_confidence, more_freedom) <= limit_pct - change_pct
    )
),
needed AS (
  SELECT iif(max(count) > max(most), NULL, nullif(max(count), max(first))) AS count
  FROM more
),
work AS (
  SELECT max(is_comparable) AS is_same_work, max(same_calls_pct) AS same_calls_pct
  FROM diff_strata
)
SELECT
  coalesce(whole.verdict, 'cannot tell') AS verdict,
  CASE
    WHEN coalesce(whole.verdict, 'cannot tell') = 'cannot tell' AND coalesce(judged.judged_pct, 0) < :least_judged
      THEN 'inconclusive'
    WHEN found.regression_count > 0 THEN 'failed'
    -- A slowdown of the limit's size may hide in the noise.
    WHEN :gate IS NOT NULL
      AND NOT equal.is_equal
      AND whole.verdict NOT IN ('faster', 'cannot tell')
      AND coalesce(max(whole.detectable_pct, whole.change_pct + sure.sure_pct) > :gate, 1)
      THEN 'inconclusive'
    ELSE 'passed'
  END AS outcome,
  whole.per,
  whole.a_ns,
  whole.b_ns,
  whole.change_pct,
  whole.noise_pct,
  whole.detectable_pct,
  whole.noise_from,
  judged.judged_pct,
  coalesce(work.is_same_work, 0) AS is_same_work,
  work.same_calls_pct,
  equal.is_equal,
  found.regression_count,
  found.offset_count,
  run.runs_a,
  run.runs_b,
  iif(whole.noise_from = 'runs', needed.count, NULL) AS runs_needed,
  iif(whole.noise_from = 'steps', needed.count, NULL) AS steps_needed
FROM found
CROSS JOIN equal
CROSS JOIN judged
CROSS JOIN run
CROSS JOIN needed
CROSS JOIN work
LEFT JOIN whole
  ON 1
LEFT JOIN sure
  ON 1
ORDER BY whole.rank
