/*---
name: diff_whole
version: 4
title: The whole
summary: Time per step or of the whole window, and its parts, in A and in B.
why: To see whether a run is faster as a whole, before looking at kernels.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_gpu_work, diff_runs, diff_strata, diff_windows]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
columns:
  - {name: part, type: text, priority: 0, doc: "time, or a part: compute, exposed communication, exposed copies or idle. The parts add up to the time."}
  - {name: verdict, type: text, priority: 1, doc: "slower, faster, more, less or within noise; cannot tell if the windows hold different work or one window is all there is."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Mean over steps, GPUs and runs of A; without steps, over GPUs and runs, from the first GPU operation to the last."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same of B."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "b_ns - a_ns."}
  - {name: change_pct, type: percent, unit: percent, label: "relative change", priority: 1, doc: "change_ns as a share of a_ns; null if a_ns is 0."}
  - {name: noise_ns, type: duration, unit: ns, label: "noise bound", priority: 1, doc: "A change within plus or minus this is within noise; null if it is unknown."}
  - {name: noise_pct, type: percent, unit: percent, label: "relative noise bound", priority: 2, doc: "noise_ns as a share of a_ns."}
  - {name: detectable_pct, type: percent, unit: percent, label: "smallest detectable change", priority: 3, doc: "The smallest change that would be found in 95 of 100 comparisons, as a share of a_ns."}
  - {name: share_a_pct, type: percent, unit: percent, label: "share of time in A", priority: 2, doc: "a_ns as a share of the time."}
  - {name: share_b_pct, type: percent, unit: percent, label: "share of time in B", priority: 2, doc: "b_ns as a share of the time."}
  - {name: per, type: text, priority: 2, doc: "step or window."}
  - {name: noise_from, type: text, label: "noise from", priority: 3, doc: "Where the noise bound comes from: runs, steps, or calls and the gaps between them; null if there is none."}
  - {name: error_ns, type: duration, unit: ns, label: "error of the change", priority: 3, doc: "Standard error of change_ns; null if it is unknown."}
  - {name: freedom, type: real, label: "degrees of freedom", priority: 3, doc: "Degrees of freedom of error_ns."}
  - {name: rank, type: int, priority: 3, doc: "Order of the parts, from 1."}
checks:
  - part IN ('time', 'compute', 'exposed communication', 'exposed copies', 'idle')
  - per IN ('step', 'window')
limits: >-
  With one run on each side, the bound does not cover differences between runs, such as clocks or temperature; it is up to
  twice as wide with fewer than 48 steps a run. With
  several, it comes from their spread, or from that of their steps if that says more. A side with one run is taken to vary
  as much as the runs of the other side. Without
  steps, it adds up the errors of all calls of a run, and the spread of the difference of idle time over twentieths of
  the operations. Start-up between the first GPU operations counts then. The steps of a
  stall that happened once in a run do not count, unless most runs of a side have one.
see_also: [diff_verdict, diff_windows]
---*/
WITH
fact AS (
  SELECT
    (SELECT min(iteration_count) > 0 FROM diff_runs) AS is_per_iteration,
    coalesce((SELECT max(is_comparable) FROM diff_strata), (SELECT min(iteration_count) > 0 FROM diff_runs))
      -- Kernels in graphs that were traced as a whole cannot be matched.
      OR (SELECT min(iteration_count) > 0 AND max(graph_ns > kernel_ns) FROM diff_runs) AS is_comparable
),
part (rank, part) AS (
  VALUES (1, 'time'), (2, 'compute'), (3, 'exposed communication'), (4, 'exposed copies'), (5, 'idle')
),
value AS MATERIALIZED (
  SELECT
    part.rank,
    part.part,
    run.side,
    run.is_b,
    windows.place,
    windows.gpu_id,
    CASE part.rank
      WHEN 1 THEN windows.window_ns
      WHEN 2 THEN windows.compute_ns
      WHEN 3 THEN windows.exposed_communication_ns
      WHEN 4 THEN windows.exposed_memory_ns
      ELSE windows.idle_ns
    END AS value_ns
  FROM diff_windows AS windows
  JOIN diff_runs AS run
    ON run.side = windows.side
  CROSS JOIN part
  CROSS JOIN fact
  WHERE CASE windows.kind
    WHEN 'step' THEN fact.is_per_iteration
    WHEN 'stalled' THEN fact.is_per_iteration AND run.stalled_count = 0
    ELSE NOT fact.is_per_iteration
  END
),
-- The GPUs share the disturbances of a step, so that their mean is one measurement.
placed AS MATERIALIZED (
  SELECT rank, part, side, is_b, place, avg(value_ns) AS value_ns
  FROM value
  GROUP BY rank, part, side, is_b, place
),
by_gpu AS (
  SELECT rank, part, side, is_b, gpu_id, avg(value_ns) AS mean_ns, sum(value_ns) AS sum_ns
  FROM value
  GROUP BY rank, part, side, is_b, gpu_id
),
run_mean AS (
  SELECT by_gpu.rank, by_gpu.part, by_gpu.side, by_gpu.is_b, avg(iif(is_per_iteration, mean_ns, sum_ns)) AS mean_ns
  FROM by_gpu
  CROSS JOIN fact
  GROUP BY by_gpu.rank, by_gpu.part, by_gpu.side, by_gpu.is_b
),
-- What the runs of a side have in common, such as a step that always logs, is no noise.
own AS (
  SELECT
    side,
    part,
    place,
    iif(
      count(*) OVER alike > 1,
      (value_ns - avg(value_ns) OVER alike) * sqrt(1.0 * count(*) OVER alike / max(count(*) OVER alike - 1, 1)),
      value_ns
    ) AS own_ns
  FROM placed
  WINDOW alike AS (PARTITION BY part, is_b, place)
),
run_error AS (
  SELECT
    side,
    part,
    -- A run alone shows how it wanders: not at all in fewer than eight steps, and too little in fewer than 48. In fewer
    -- than 32, steps that resemble their neighbours show it, too.
    mean_error(place, own_ns) * CASE
      WHEN (SELECT count(*) FROM diff_runs) > 2 THEN 1.0
      WHEN count(*) < 8 THEN 2.0
      WHEN count(*) < 32 THEN 2.0 - correlated_freedom(place, own_ns) / (count(*) - 1)
      WHEN count(*) < 48 THEN 1.2
      ELSE 1.0
    END AS error_ns,
    -- How neighbours resemble each other is estimated from the same values, which costs freedom.
    min(correlated_freedom(place, own_ns), 8) AS freedom
  FROM own
  GROUP BY side, part
),
run AS (
  SELECT
    run_mean.*,
    run_error.error_ns,
    run_error.freedom
  FROM run_mean
  JOIN run_error
    ON run_error.side = run_mean.side
    AND run_error.part = run_mean.part
),
side AS (
  SELECT
    rank,
    part,
    avg(mean_ns) FILTER (WHERE NOT is_b) AS a_ns,
    avg(mean_ns) FILTER (WHERE is_b) AS b_ns,
    count(*) FILTER (WHERE NOT is_b) AS runs_a,
    count(*) FILTER (WHERE is_b) AS runs_b,
    stddev(mean_ns) FILTER (WHERE NOT is_b) AS spread_a_ns,
    stddev(mean_ns) FILTER (WHERE is_b) AS spread_b_ns,
    sum(error_ns * error_ns) FILTER (WHERE NOT is_b) AS within_a,
    sum(error_ns * error_ns) FILTER (WHERE is_b) AS within_b,
    sum(error_ns * error_ns * error_ns * error_ns / freedom) FILTER (WHERE NOT is_b AND freedom > 0) AS by_freedom_a,
    sum(error_ns * error_ns * error_ns * error_ns / freedom) FILTER (WHERE is_b AND freedom > 0) AS by_freedom_b,
    min(freedom) FILTER (WHERE NOT is_b) AS least_freedom_a,
    min(freedom) FILTER (WHERE is_b) AS least_freedom_b
  FROM run
  GROUP BY rank, part
  HAVING runs_a > 0 AND runs_b > 0
),
-- What the steps of a side's runs show about its mean.
stepped AS (
  SELECT
    side.*,
    iif(fact.is_per_iteration, within_a / (runs_a * runs_a), 0) AS step_variance_a,
    iif(fact.is_per_iteration, within_b / (runs_b * runs_b), 0) AS step_variance_b,
    coalesce(within_a * within_a / nullif(by_freedom_a, 0), least_freedom_a) AS freedom_a,
    coalesce(within_b * within_b / nullif(by_freedom_b, 0), least_freedom_b) AS freedom_b
  FROM side
  CROSS JOIN fact
),
-- Idle time of the n-th pieces of both sides: what differs within the pairs is noise.
idle_error AS (
  SELECT count(*) * mean_error(a.place, b.value_ns - a.value_ns) AS error_ns, mean_freedom(count(*)) AS freedom
  FROM placed AS a
  JOIN placed AS b
    ON b.part = a.part
    AND b.place = a.place
    AND b.is_b
  WHERE a.part = 'idle'
    AND NOT a.is_b
),
gpu_count AS (
  SELECT side, count(DISTINCT gpu_id) AS gpus
  FROM value
  GROUP BY side
),
call_error AS MATERIALIZED (
  SELECT
    work.side >= :runs_a AS is_b,
    CASE
      WHEN work.section = 'memory' THEN 'exposed copies'
      WHEN work.collective IS NOT NULL THEN 'exposed communication'
      ELSE 'compute'
    END AS part,
    1.0 * sum(work.error_ns) / gpu_count.gpus AS error_ns,
    coalesce(sum(work.error_ns) * sum(work.error_ns) / nullif(sum(work.freedom_ns) * sum(work.freedom_ns), 0), 100000.0)
      AS freedom
  FROM diff_gpu_work AS work
  JOIN gpu_count
    ON gpu_count.side = work.side
  GROUP BY 1, 2
  UNION ALL
  SELECT 0, 'idle', error_ns, freedom
  FROM idle_error
),
source AS (
  SELECT
    side.*,
    fact.is_per_iteration,
    iif(runs_a > 1, spread_a_ns * spread_a_ns / runs_a, spread_b_ns * spread_b_ns) AS run_variance_a,
    iif(runs_b > 1, spread_b_ns * spread_b_ns / runs_b, spread_a_ns * spread_a_ns) AS run_variance_b,
    min(runs_a, runs_b) < 3 AS is_few,
    iif(runs_a > 1, runs_a, runs_b) - 1.0 AS run_freedom_a,
    iif(runs_b > 1, runs_b, runs_a) - 1.0 AS run_freedom_b,
    of_a.error_ns AS call_error_a_ns,
    of_a.freedom AS call_freedom_a,
    of_b.error_ns AS call_error_b_ns,
    of_b.freedom AS call_freedom_b,
    CASE
      WHEN NOT fact.is_comparable THEN NULL
      WHEN max(side.runs_a, side.runs_b) > 1 THEN 'runs'
      WHEN fact.is_per_iteration AND min(side.least_freedom_a, side.least_freedom_b) > 0 THEN 'steps'
      WHEN NOT fact.is_per_iteration THEN 'calls'
    END AS noise_from
  FROM stepped AS side
  CROSS JOIN fact
  LEFT JOIN call_error AS of_a
    ON of_a.part = side.part
    AND NOT of_a.is_b
  LEFT JOIN call_error AS of_b
    ON of_b.part = side.part
    AND of_b.is_b
),
-- A side with one run varies as much as the other side's runs do. Few runs can be similar by chance: a mean is no more
-- certain than the steps of the runs, and where a side has one run or two, the steps are not believed to show all.
variance AS (
  SELECT
    *,
    CASE noise_from
      WHEN 'runs' THEN max(run_variance_a, coalesce(step_variance_a, 0))
      WHEN 'steps' THEN step_variance_a
      WHEN 'calls' THEN coalesce(call_error_a_ns * call_error_a_ns, 0.0)
    END AS variance_a,
    CASE noise_from
      WHEN 'runs' THEN max(run_variance_b, coalesce(step_variance_b, 0))
      WHEN 'steps' THEN step_variance_b
      WHEN 'calls' THEN coalesce(call_error_b_ns * call_error_b_ns, 0.0)
    END AS variance_b,
    CASE
      WHEN noise_from = 'calls' THEN coalesce(call_freedom_a, 1.0)
      WHEN noise_from = 'steps' THEN freedom_a
      WHEN step_variance_a > run_variance_a THEN min(freedom_a, iif(is_few, 2.0 * run_freedom_a, freedom_a))
      WHEN noise_from = 'runs' THEN run_freedom_a
    END AS of_a,
    CASE
      WHEN noise_from = 'calls' THEN coalesce(call_freedom_b, 1.0)
      WHEN noise_from = 'steps' THEN freedom_b
      WHEN step_variance_b > run_variance_b THEN min(freedom_b, iif(is_few, 2.0 * run_freedom_b, freedom_b))
      WHEN noise_from = 'runs' THEN run_freedom_b
    END AS of_b
  FROM source
),
-- The errors of the parts add up to that of the time, where it has none of its own.
added AS (
  SELECT
    *,
    iif(noise_from = 'calls' AND rank = 1, sum(variance_a + variance_b) OVER (), variance_a + variance_b) AS variance,
    iif(
      noise_from = 'calls' AND rank = 1,
      sum(variance_a * variance_a / of_a + variance_b * variance_b / of_b) OVER (),
      variance_a * variance_a / of_a + variance_b * variance_b / of_b
    ) AS by_freedom
  FROM variance
),
judged AS (
  SELECT
    *,
    sqrt(variance) AS error_ns,
    -- What both sides know from the same runs is known once.
    iif(noise_from = 'runs' AND min(runs_a, runs_b) = 1, min(of_a, of_b), variance * variance / nullif(by_freedom, 0))
      AS freedom
  FROM added
),
bound AS (
  SELECT
    *,
    coalesce(student_bound(:confidence, freedom), 0) * error_ns AS noise_ns,
    coalesce(student_bound(90, freedom), 0) * error_ns AS power_ns,
    max(iif(rank = 1, a_ns, NULL)) OVER () AS time_a_ns,
    max(iif(rank = 1, b_ns, NULL)) OVER () AS time_b_ns
  FROM judged
)
SELECT
  part,
  CASE
    WHEN noise_ns IS NULL THEN 'cannot tell'
    WHEN abs(b_ns - a_ns) <= noise_ns THEN 'within noise'
    WHEN rank = 1 THEN iif(b_ns > a_ns, 'slower', 'faster')
    ELSE iif(b_ns > a_ns, 'more', 'less')
  END AS verdict,
  CAST(round(a_ns) AS INTEGER) AS a_ns,
  CAST(round(b_ns) AS INTEGER) AS b_ns,
  CAST(round(b_ns) AS INTEGER) - CAST(round(a_ns) AS INTEGER) AS change_ns,
  100.0 * (b_ns - a_ns) / nullif(a_ns, 0) AS change_pct,
  noise_ns,
  100.0 * noise_ns / nullif(a_ns, 0) AS noise_pct,
  100.0 * (noise_ns + power_ns) / nullif(a_ns, 0) AS detectable_pct,
  100.0 * a_ns / nullif(time_a_ns, 0) AS share_a_pct,
  100.0 * b_ns / nullif(time_b_ns, 0) AS share_b_pct,
  iif(is_per_iteration, 'step', 'window') AS per,
  noise_from,
  error_ns,
  freedom,
  rank
FROM bound
ORDER BY rank
