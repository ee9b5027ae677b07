/*---
name: diff_explained
version: 2
title: What explains the change of the step
summary: Kernels by place, copies, waits and the rest, with their share of the change.
why: To see which kernels and which waits make a step longer, and how much nothing explains.
kind: sum
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [diff_pairs, diff_path, diff_runs, diff_whole, diff_windows]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
columns:
  - {name: cause, type: text, priority: 0, doc: "compute, communication, copies, host code, CUDA calls, launches, waits, stalls or unexplained."}
  - {name: name, type: text, priority: 0, doc: "Class of the kernels, in B if it has them, of several that of the longest; the innermost range of what host code launches next; function of a call; else null."}
  - {name: name_a, type: text, label: "kernels in A", priority: 1, doc: "Kernels of A that are compared, on separate lines; null if only B has them, and for what is not a kernel."}
  - {name: name_b, type: text, label: "kernels in B", priority: 1, doc: "The same of B: kernels in the same place of the step, also under another name."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Time on the critical path of a step of A: mean over steps, GPUs and runs."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "b_ns - a_ns. All rows add up to the change of the step in diff_whole, to the nanosecond."}
  - {name: change_pct, type: percent, unit: percent, label: "share of the step's change", priority: 1, doc: "change_ns as a share of the step's change; null if that is 0."}
  - {name: is_new, type: bool, label: "new", priority: 2, doc: "Whether only B has it."}
checks:
  - change_ns = b_ns - a_ns
when_empty: "a side has no steps"
limits: >-
  Work that something else hides has no time here, and another path can be nearly as long. No noise is known for a row. What the
  paths lack of the steps that are judged counts as unexplained, or as stalls if those of most runs count.
see_also: [diff_causes, diff_path, diff_pairs, diff_whole]
---*/
WITH
run AS MATERIALIZED (
  SELECT side, is_b, 1.0 / count(*) OVER (PARTITION BY is_b) AS weight
  FROM diff_runs
  WHERE (SELECT min(iteration_count) > 0 FROM diff_runs)
),
pair AS MATERIALIZED (
  SELECT name AS kernel_name, min(pair_id) AS pair_id
  FROM diff_pairs
  WHERE section = 'kernels'
  GROUP BY name
),
spent AS MATERIALIZED (
  SELECT
    path.cause,
    coalesce(pair.pair_id, path.kernel_name, path.name) AS key,
    path.name,
    path.kernel_name,
    run.is_b,
    path.step_ns * run.weight AS step_ns
  FROM run
  JOIN diff_path AS path
    ON path.side = run.side
  LEFT JOIN pair
    ON pair.kernel_name = path.kernel_name
),
judged AS (
  SELECT a_ns, b_ns
  FROM diff_whole
  WHERE part = 'time'
    AND EXISTS (SELECT 1 FROM run)
),
-- Less than a nanosecond, unless the paths lack a part of a step.
rest AS (
  SELECT
    iif(
      EXISTS (SELECT 1 FROM diff_windows WHERE kind = 'stalled') AND NOT (SELECT max(stalled_count) FROM diff_runs),
      'stalls',
      'unexplained'
    ) AS cause,
    judged.a_ns - (SELECT total(step_ns) FROM spent WHERE NOT is_b) AS a_ns,
    judged.b_ns - (SELECT total(step_ns) FROM spent WHERE is_b) AS b_ns
  FROM judged
),
named AS (
  SELECT
    cause,
    key,
    group_concat(iif(is_b, NULL, kernel_name), char(10)) AS name_a,
    group_concat(iif(is_b, kernel_name, NULL), char(10)) AS name_b
  FROM (SELECT DISTINCT cause, key, is_b, kernel_name FROM spent ORDER BY kernel_name)
  GROUP BY cause, key
),
-- Kernels in each other's place can be of several classes: the longest gives its name.
led AS MATERIALIZED (
  SELECT
    cause,
    key,
    name,
    row_number() OVER (PARTITION BY cause, key ORDER BY is_b DESC, sum(step_ns) DESC, name) AS nth
  FROM spent
  GROUP BY cause, key, name, is_b
),
summed AS (
  SELECT
    cause,
    key,
    total(iif(is_b, 0, step_ns)) AS a_ns,
    total(iif(is_b, step_ns, 0)) AS b_ns
  FROM (
    SELECT cause, key, is_b, step_ns FROM spent
    UNION ALL
    SELECT cause, NULL, 0, a_ns FROM rest
    UNION ALL
    SELECT cause, NULL, 1, b_ns FROM rest
  )
  GROUP BY cause, key
),
cumulated AS (
  SELECT
    *,
    CAST(round(sum(a_ns) OVER up_to) AS INTEGER) AS to_a_ns,
    CAST(round(sum(b_ns) OVER up_to) AS INTEGER) AS to_b_ns
  FROM summed
  WINDOW up_to AS (ORDER BY cause, key ROWS UNBOUNDED PRECEDING)
),
-- Rounded so that the rows add up to the rounded step.
whole AS (
  SELECT
    cause,
    key,
    to_a_ns - lag(to_a_ns, 1, 0) OVER (ORDER BY cause, key) AS a_ns,
    to_b_ns - lag(to_b_ns, 1, 0) OVER (ORDER BY cause, key) AS b_ns
  FROM cumulated
)
SELECT
  whole.cause,
  led.name,
  named.name_a,
  named.name_b,
  whole.a_ns,
  whole.b_ns,
  whole.b_ns - whole.a_ns AS change_ns,
  100.0 * (whole.b_ns - whole.a_ns) / nullif((SELECT b_ns - a_ns FROM judged), 0) AS change_pct,
  whole.b_ns > 0 AND whole.a_ns = 0 AS is_new
FROM whole
LEFT JOIN led
  ON led.cause = whole.cause
  AND led.key IS NOT DISTINCT FROM whole.key
  AND led.nth = 1
LEFT JOIN named
  ON named.cause = whole.cause
  AND named.key IS NOT DISTINCT FROM whole.key
WHERE whole.a_ns <> 0
  OR whole.b_ns <> 0
ORDER BY abs(whole.b_ns - whole.a_ns) DESC, whole.cause, whole.key
