/*---
name: diff_strata
version: 1
title: Shapes of what is compared
summary: Each launch shape, size or path of each run, with the same of both sides.
why: To see what is compared call by call, and what only as a sum.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_calls, diff_gpu_work, diff_pairs, diff_ranges, diff_runs]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: section, type: text, priority: 0, doc: "kernels, memory, layers, layers_cpu or api."}
  - {name: pair_id, type: id, priority: 0, doc: "Number of the pair in diff_pairs."}
  - {name: shape, type: text, priority: 0, doc: "Grid / block of a kernel, size of a copy or fill, path of a range."}
  - {name: run, type: int, priority: 1, doc: "Position of the report, from 0."}
  - {name: is_b, type: bool, label: "B", priority: 1, doc: "Whether the report is a run of B."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Calls of the run."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Their time."}
  - {name: error_ns, type: duration, unit: ns, priority: 3, doc: "Standard error of total_ns."}
  - {name: freedom_ns, type: duration, unit: ns, priority: 3, doc: "error_ns divided by the square root of its degrees of freedom."}
  - {name: single_ns, type: duration, unit: ns, priority: 3, doc: "Time of single calls, whose spread is unknown."}
  - {name: calls_a, type: int, unit: count, priority: 2, doc: "Calls in all runs of A."}
  - {name: calls_b, type: int, unit: count, priority: 2, doc: "Calls in all runs of B."}
  - {name: total_a_ns, type: duration, unit: ns, priority: 2, doc: "Their time in all runs of A."}
  - {name: is_like, type: bool, label: "like with like", priority: 1, doc: "Whether a call of A can be compared with one of B: every run has the shape, and each side has one name."}
  - {name: is_by_total, type: bool, label: "by sum", priority: 1, doc: "Whether the whole pair is compared by its time per step or report, because a tenth or more is different work."}
  - {name: unit_count, type: int, unit: count, label: "units", priority: 3, doc: "Steps of the run; 1 without steps."}
  - {name: units_a, type: int, unit: count, priority: 3, doc: "Steps of all runs of A; the number of runs without steps."}
  - {name: units_b, type: int, unit: count, priority: 3, doc: "The same of B."}
  - {name: is_comparable, type: bool, label: "same work", priority: 3, doc: "Whether both sides do the same work per unit: marked steps; steps found by repetition, of which half of the time or more is matched; else also call counts within 2 % of each other."}
  - {name: same_calls_pct, type: percent, unit: percent, label: "calls in both", priority: 3, doc: "The smaller call count of each pair as a share of the larger, over kernels, copies and fills that both sides have; null without any."}
  - {name: class, type: text, priority: 2, doc: "Class of the pair's kernels; mixed if there are several; null in other sections."}
  - {name: collective, type: text, priority: 2, doc: "Collective of the pair's kernels; null if it is not communication."}
checks:
  - calls > 0 AND calls_a >= 0 AND calls_b >= 0
limits: >-
  Whether two reports without steps do the same work is judged by call counts alone.
see_also: [diff_pairs, diff_costs]
---*/
WITH
work AS (
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_gpu_work
  UNION ALL
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_ranges
  UNION ALL
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_calls
),
unit AS MATERIALIZED (
  SELECT
    coalesce(sum(unit_count) FILTER (WHERE NOT is_b), 0) AS units_a,
    coalesce(sum(unit_count) FILTER (WHERE is_b), 0) AS units_b,
    count(*) AS runs,
    min(iteration_count) > 0 AS has_iterations,
    min(iteration_count) > 0 AND total(found = 'repeated') = 0 AS has_marks
  FROM diff_runs
),
pair AS MATERIALIZED (
  SELECT
    *,
    max(in_a_name) OVER of_pair > 1 OR max(in_b_name) OVER of_pair > 1 AS is_several,
    iif(min(class) OVER of_pair < max(class) OVER of_pair, 'mixed', max(class) OVER of_pair) AS pair_class
  FROM (
    SELECT
      *,
      dense_rank() OVER (PARTITION BY pair_id, in_a ORDER BY name) * in_a AS in_a_name,
      dense_rank() OVER (PARTITION BY pair_id, in_b ORDER BY name) * in_b AS in_b_name
    FROM diff_pairs
  )
  WINDOW of_pair AS (PARTITION BY pair_id)
),
-- A shape may come from several ranges of a run.
stratum AS (
  SELECT
    pair.section,
    pair.pair_id,
    pair.match,
    pair.is_several,
    pair.pair_class,
    work.shape,
    work.side,
    run.unit_count,
    max(work.collective) AS collective,
    sum(work.calls) AS calls,
    sum(work.total_ns) AS total_ns,
    sum(work.error_ns) AS error_ns,
    sum(work.freedom_ns) AS freedom_ns,
    sum(work.single_ns) AS single_ns
  FROM work
  JOIN pair
    ON pair.section = work.section
    AND pair.name = work.name
    AND pair.path = work.path
  JOIN diff_runs AS run
    ON run.side = work.side
  GROUP BY pair.pair_id, work.shape, work.side
),
marked AS (
  SELECT
    *,
    total(calls * (side < :runs_a)) OVER both AS calls_a,
    total(calls * (side >= :runs_a)) OVER both AS calls_b,
    total(total_ns * (side < :runs_a)) OVER both AS total_a_ns,
    count(*) OVER both AS run_count
  FROM stratum
  WINDOW both AS (PARTITION BY pair_id, shape)
),
liked AS (
  SELECT
    marked.*,
    marked.run_count = unit.runs
      AND marked.match IN ('exact', 'numbers', 'function')
      AND NOT marked.is_several
      AND marked.shape <> '(other)' AS is_like,
    unit.units_a,
    unit.units_b,
    unit.has_iterations,
    unit.has_marks
  FROM marked
  CROSS JOIN unit
),
summed AS (
  SELECT
    *,
    total(total_ns * (side < :runs_a)) OVER of_pair AS pair_a_ns,
    total(total_ns * (side >= :runs_a)) OVER of_pair AS pair_b_ns,
    total(total_ns * (side < :runs_a) * is_like) OVER of_pair AS like_a_ns,
    total(total_ns * (side >= :runs_a) * is_like) OVER of_pair AS like_b_ns,
    total(calls * (side < :runs_a)) OVER of_pair / units_a AS pair_calls_a,
    total(calls * (side >= :runs_a)) OVER of_pair / units_b AS pair_calls_b,
    row_number() OVER (PARTITION BY pair_id ORDER BY shape, side) AS nth
  FROM liked
  WINDOW of_pair AS (PARTITION BY pair_id)
),
-- Pairs that only one side has say nothing about whether the rest is the same work.
same AS (
  SELECT
    *,
    100.0 * total(min(pair_calls_a, pair_calls_b) * is_matched) OVER ()
      / nullif(total(max(pair_calls_a, pair_calls_b) * is_matched) OVER (), 0) AS same_calls_pct,
    total(pair_a_ns * is_matched) OVER () >= 0.5 * total(pair_a_ns * is_counted) OVER ()
      AND total(pair_b_ns * is_matched) OVER () >= 0.5 * total(pair_b_ns * is_counted) OVER () AS is_mostly_matched
  FROM (
    SELECT
      *,
      nth = 1 AND section IN ('kernels', 'memory') AS is_counted,
      nth = 1 AND section IN ('kernels', 'memory') AND match <> 'none' AS is_matched
    FROM summed
  )
)
SELECT
  section,
  pair_id,
  shape,
  side AS run,
  side >= :runs_a AS is_b,
  calls,
  total_ns,
  error_ns,
  freedom_ns,
  single_ns,
  CAST(calls_a AS INTEGER) AS calls_a,
  CAST(calls_b AS INTEGER) AS calls_b,
  CAST(total_a_ns AS INTEGER) AS total_a_ns,
  is_like,
  (has_iterations OR is_mostly_matched AND coalesce(same_calls_pct >= 98, 0))
    AND pair_a_ns > 0
    AND pair_b_ns > 0
    AND (like_a_ns < 0.9 * pair_a_ns OR like_b_ns < 0.9 * pair_b_ns) AS is_by_total,
  unit_count,
  units_a,
  units_b,
  has_marks OR is_mostly_matched AND (has_iterations OR coalesce(same_calls_pct >= 98, 0)) AS is_comparable,
  same_calls_pct,
  pair_class AS class,
  collective
FROM same
ORDER BY section, pair_id, shape, side
