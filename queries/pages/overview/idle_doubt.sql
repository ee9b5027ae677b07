/*---
name: idle_doubt
version: 5
title: Whether idle time is known
summary: Whether too much of the GPU's work is missing to call a GPU idle.
why: To conclude nothing from the idle time of a GPU whose work was not recorded.
kind: info
internal: true
tags: [capture, gpu]
reads: [all_kernel, doubtful_op, gpu_window, launch_outcome, sampled_call, unseen_work]
requires: [gpu_op | graph_trace | launch_outcome]
columns:
  - {name: is_unknown, type: bool, priority: 0, doc: "Whether at least a tenth of the launches failed or succeeded without recorded work, the trace is a sample, work outside the report kept the GPUs waiting for a tenth of the time, or kernels whose end is too late take a tenth; the limits have the rule."}
  - {name: failed_count, type: int, unit: count, priority: 1, doc: "Launches that failed."}
  - {name: lost_count, type: int, unit: count, priority: 1, doc: "Launches that succeeded and have no GPU work in the report."}
  - {name: launch_count, type: int, unit: count, priority: 1, doc: "Launches of the threads that have any of these, by the same functions."}
  - {name: unseen_ns, type: duration, unit: ns, priority: 1, doc: "Time in which work that is not in the report kept the GPUs waiting, from the relation unseen_work."}
  - {name: overlong_ns, type: duration, unit: ns, priority: 1, doc: "Time of kernels that overlap their stream, from the relation doubtful_op."}
  - {name: is_sampled, type: bool, priority: 1, doc: "Whether the trace is a sample: see the relation sampled_call."}
  - {name: look_at, type: text, priority: 3, doc: "Query that lists what is missing; null if idle time is known."}
  - {name: reason, type: text, priority: 1, doc: "What is missing; null if idle time is known."}
limits: >-
  A tenth of the kernels in the report and of these launches together, and at least five if none failed. Launches that had not run when the capture ended
  do not count, and neither do those captured into a graph: a GPU may well idle then. A tenth of the time is that of all
  GPUs' windows together.
---*/
WITH
missing AS (
  SELECT
    coalesce(sum(launch_count) FILTER (WHERE outcome = 'failed'), 0) AS failed_count,
    coalesce(sum(launch_count) FILTER (WHERE outcome = 'lost'), 0) AS lost_count
  FROM launch_outcome
),
thread AS (
  SELECT coalesce(sum(all_count), 0) AS launch_count
  FROM (
    SELECT DISTINCT global_tid, is_graph, all_count
    FROM launch_outcome
    WHERE outcome IN ('failed', 'lost')
  )
),
named AS (
  SELECT
    iif(min(is_graph), 'graph launches', 'launches') AS what,
    iif(min(pid) = max(pid), printf(' of process %d', min(pid)), '') AS whose
  FROM launch_outcome
  WHERE outcome IN ('failed', 'lost')
),
unseen AS (
  SELECT
    coalesce(sum(unseen_ns), 0) AS unseen_ns,
    iif(min(pid) = max(pid), printf('process %d', min(pid)), 'the processes') AS who,
    (SELECT sum(window_ns) FROM gpu_window) AS window_ns
  FROM unseen_work
),
overlong AS (
  SELECT
    coalesce(sum(min(doubt.end_ns, gpu.end_ns) - max(doubt.start_ns, gpu.start_ns)), 0) AS overlong_ns,
    count(*) AS overlong_count
  FROM (SELECT * FROM doubtful_op WHERE reason = 'overlaps its stream') AS doubt
  CROSS JOIN gpu_window AS gpu
  WHERE gpu.gpu_id = doubt.gpu_id
    AND doubt.start_ns < gpu.end_ns
    AND doubt.end_ns > gpu.start_ns
),
-- Stored, so that each is computed once.
judged AS MATERIALIZED (
  SELECT
    *,
    EXISTS (SELECT 1 FROM sampled_call) AS is_sampled,
    -- Kernels are not counted if few launches are without work.
    iif(
      failed_count > 0 OR lost_count >= 5,
      10 * (failed_count + lost_count) >= failed_count + lost_count + (SELECT count(*) FROM all_kernel),
      0
    ) AS lacks_launches,
    unseen_ns > 0 AND 10 * unseen_ns >= coalesce(window_ns, 0) AS lacks_work,
    overlong_ns > 0 AND 10 * overlong_ns >= coalesce(window_ns, 0) AS lacks_ends
  FROM missing
  CROSS JOIN thread
  CROSS JOIN named
  CROSS JOIN unseen
  CROSS JOIN overlong
)
SELECT
  max(lacks_launches OR is_sampled OR lacks_work OR lacks_ends) AS is_unknown,
  max(failed_count) AS failed_count,
  max(lost_count) AS lost_count,
  max(launch_count) AS launch_count,
  max(unseen_ns) AS unseen_ns,
  max(overlong_ns) AS overlong_ns,
  max(is_sampled) AS is_sampled,
  max(CASE
    WHEN lacks_launches THEN 'launch_outcomes'
    WHEN is_sampled THEN 'capture_trust'
    WHEN lacks_work THEN 'gpu_idle_causes'
    WHEN lacks_ends THEN 'suspect_events'
  END) AS look_at,
  max(CASE
    WHEN lacks_launches AND lost_count = 0 THEN printf('the work of %d %s that failed', failed_count, what)
    WHEN lacks_launches THEN printf(
      'the work of %d of %d %s%s',
      failed_count + lost_count,
      launch_count,
      what,
      whose
    )
    WHEN is_sampled THEN 'most of the launched work'
    WHEN lacks_work THEN printf(
      'what %s waited for during %.1f ms (%.1f %% of GPU time)',
      who,
      unseen_ns / 1e6,
      100.0 * unseen_ns / window_ns
    )
    WHEN lacks_ends THEN printf(
      'the true end of %d %s with %.1f %% of GPU time',
      overlong_count,
      iif(overlong_count = 1, 'kernel', 'kernels'),
      100.0 * overlong_ns / window_ns
    )
  END) AS reason
FROM judged
