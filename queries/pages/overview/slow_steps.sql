/*---
name: slow_steps
version: 2
title: Which steps are slow
summary: How many steps take far longer than the median, and whether they come regularly.
why: To tell a pause that comes once from work that each twentieth step does.
kind: info
internal: true
tags: [gpu, nvtx]
reads: []
asks: [steps]
params:
  - {name: slower, type: real, default: 1.5, min: 1, doc: "A slow step takes at least this many times as long as the median."}
  - {name: least, type: int, default: 6, min: 3, doc: "Smallest number of steps of a thread."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU of the thread whose slow steps take the most time beyond the median."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps of the thread, without warm-up and those that launch other work."}
  - {name: slow_count, type: int, unit: count, label: "slow", priority: 0, doc: "How often a step is slow; slow steps in a row count once, because a pause can lie in two."}
  - {name: step, type: int, label: "first slow", priority: 1, doc: "Number of the first slow step."}
  - {name: every, type: int, unit: count, label: "every", priority: 0, doc: "Steps from one to the next, if at least 80 % of three or more have this distance; else null."}
  - {name: excess_ns, type: duration, unit: ns, label: "longer", priority: 1, doc: "How much longer than the median they take, with those in the same row; the middle one of all."}
  - {name: idle_ns, type: duration, unit: ns, label: "longer idle", priority: 1, doc: "The same of the time in which the GPU idles: the rest of excess_ns is longer GPU work. Null if unknown."}
  - {name: median_ns, type: duration, unit: ns, label: "median step", priority: 1, doc: "Median time of all steps."}
checks:
  - slow_count BETWEEN 1 AND step_count
  - every IS NULL OR every > 1
limits: Steps are those of the query steps.
see_also: [slow_iterations, steps]
---*/
WITH
timed AS MATERIALIZED (
  SELECT gpu_id, pid, tid, step, dur_ns, idle_ns
  FROM steps
  WHERE part IN ('median', 'steady')
    AND NOT has_other_work
),
usual AS (
  SELECT gpu_id, pid, tid, count(*) AS step_count, median(dur_ns) AS median_ns, median(idle_ns) AS median_idle_ns
  FROM timed
  GROUP BY gpu_id, pid, tid
  HAVING count(*) >= :least
),
slow AS (
  SELECT
    timed.*,
    usual.step_count,
    usual.median_ns,
    usual.median_idle_ns,
    timed.step - row_number() OVER (PARTITION BY timed.gpu_id, timed.pid, timed.tid ORDER BY timed.step) AS row_of
  FROM usual
  JOIN timed
    ON timed.gpu_id = usual.gpu_id
    AND timed.pid = usual.pid
    AND timed.tid IS NOT DISTINCT FROM usual.tid
  WHERE timed.dur_ns >= :slower * usual.median_ns
),
-- Slow steps in a row.
pause AS MATERIALIZED (
  SELECT
    *,
    step - lag(step) OVER (PARTITION BY gpu_id, pid, tid ORDER BY step) AS distance
  FROM (
    SELECT
      gpu_id,
      pid,
      tid,
      step_count,
      median_ns,
      min(step) AS step,
      count(*) AS steps,
      sum(dur_ns - median_ns) AS excess_ns,
      sum(idle_ns - median_idle_ns) AS idle_ns
    FROM slow
    GROUP BY gpu_id, pid, tid, step_count, median_ns, row_of
  )
),
thread AS (
  SELECT
    gpu_id,
    pid,
    tid,
    step_count,
    median_ns,
    count(*) AS slow_count,
    min(step) AS step,
    median(excess_ns) AS excess_ns,
    median(idle_ns) AS idle_ns,
    sum(excess_ns) AS total_ns,
    CAST(median(distance) AS INTEGER) AS distance
  FROM pause
  GROUP BY gpu_id, pid, tid, step_count, median_ns
  -- Steps that stay slow are no pauses.
  HAVING sum(steps) <= 2 * count(*)
),
first AS MATERIALIZED (
  SELECT *
  FROM thread
  ORDER BY total_ns DESC, gpu_id, pid, tid
  LIMIT 1
)
SELECT
  gpu_id,
  step_count,
  slow_count,
  step,
  (
    SELECT iif(count(*) >= 2 AND 5 * sum(pause.distance = first.distance) >= 4 * count(*), first.distance, NULL)
    FROM pause
    WHERE pause.gpu_id = first.gpu_id
      AND pause.pid = first.pid
      AND pause.tid IS NOT DISTINCT FROM first.tid
      AND pause.distance IS NOT NULL
      AND first.distance > 1
  ) AS every,
  CAST(excess_ns AS INTEGER) AS excess_ns,
  CAST(idle_ns AS INTEGER) AS idle_ns,
  CAST(median_ns AS INTEGER) AS median_ns
FROM first
ORDER BY gpu_id
