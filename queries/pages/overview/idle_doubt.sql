/*---
name: idle_doubt
version: 2
title: Whether idle time is known
summary: Whether too much of the GPU's work is missing to call a GPU idle.
why: To conclude nothing from the idle time of a GPU whose work was not recorded.
kind: info
internal: true
tags: [capture, gpu]
reads: [all_kernel, gpu_window, launch_outcome, unseen_work]
requires: [gpu_op | graph_trace | launch_outcome]
columns:
  - {name: is_unknown, type: bool, priority: 0, doc: "Whether at least a tenth of the launches failed or succeeded without recorded work, or work outside the report held the GPUs up for a tenth of the time; the limits have the rule."}
  - {name: failed_count, type: int, unit: count, priority: 1, doc: "Launches that failed."}
  - {name: lost_count, type: int, unit: count, priority: 1, doc: "Launches that succeeded and have no GPU work in the report."}
  - {name: launch_count, type: int, unit: count, priority: 1, doc: "Launches of the threads that have any of these, by the same functions."}
  - {name: unseen_ns, type: duration, unit: ns, priority: 1, doc: "Time in which work that is not in the report held the GPUs up, from the relation unseen_work."}
  - {name: rest_from_ns, type: timestamp, unit: ns, priority: 1, doc: "End of the longest of these waits, if it has most of unseen_ns and launches are not the reason; else null. --time from here on leaves it out."}
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
unseen AS (
  SELECT
    coalesce(sum(unseen_ns), 0) AS unseen_ns,
    iif(2 * max(unseen_ns) > sum(unseen_ns), max(iif(nth = 1, end_ns, NULL)), NULL) AS rest_from_ns,
    iif(min(pid) = max(pid), printf('process %d', min(pid)), 'the processes') AS who,
    (SELECT sum(window_ns) FROM gpu_window) AS window_ns
  FROM (
    SELECT unseen_ns, end_ns, pid, row_number() OVER (ORDER BY unseen_ns DESC, start_ns, gpu_id) AS nth
    FROM unseen_work
  )
),
judged AS (
  SELECT
    *,
    (failed_count > 0 OR lost_count >= 5)
    AND 10 * (failed_count + lost_count) >= failed_count + lost_count + (SELECT count(*) FROM all_kernel)
      AS lacks_launches,
    unseen_ns > 0 AND 10 * unseen_ns >= coalesce(window_ns, 0) AS lacks_work
  FROM missing
  CROSS JOIN thread
  CROSS JOIN unseen
)
SELECT
  max(lacks_launches OR lacks_work) AS is_unknown,
  max(failed_count) AS failed_count,
  max(lost_count) AS lost_count,
  max(launch_count) AS launch_count,
  max(unseen_ns) AS unseen_ns,
  max(iif(lacks_work AND NOT lacks_launches, rest_from_ns, NULL)) AS rest_from_ns,
  max(CASE WHEN lacks_launches THEN 'launch_outcomes' WHEN lacks_work THEN 'gpu_idle_causes' END) AS look_at,
  max(CASE
    WHEN lacks_launches AND lost_count = 0 THEN printf('the work of %d launches that failed', failed_count)
    WHEN lacks_launches THEN printf('the work of %d of %d launches', failed_count + lost_count, launch_count)
    WHEN lacks_work THEN printf(
      'the work that held up %s for %.1f ms (%.1f %% of GPU time)',
      who,
      unseen_ns / 1e6,
      100.0 * unseen_ns / window_ns
    )
  END) AS reason
FROM judged
