/*---
name: idle_doubt
version: 1
title: Whether idle time is known
summary: Whether too much of the GPU's work is missing to call a GPU idle.
why: To conclude nothing from the idle time of a GPU whose work was not recorded.
kind: info
internal: true
tags: [capture, gpu]
reads: [all_kernel, launch_outcome]
requires: [gpu_op | graph_trace | launch_outcome]
columns:
  - {name: is_unknown, type: bool, priority: 0, doc: "Whether at least a tenth of the launches failed, or succeeded without recorded work; the limits have the rule."}
  - {name: failed_count, type: int, unit: count, priority: 1, doc: "Launches that failed."}
  - {name: lost_count, type: int, unit: count, priority: 1, doc: "Launches that succeeded and have no GPU work in the report."}
  - {name: launch_count, type: int, unit: count, priority: 1, doc: "Launches of the threads that have any of these, by the same functions."}
  - {name: reason, type: text, priority: 1, doc: "What is missing; null if idle time is known."}
limits: >-
  A tenth of the kernels in the report and of these launches together, and at least five if none failed. Launches that had not run when the capture ended
  do not count, and neither do those captured into a graph: a GPU may well idle then.
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
judged AS (
  SELECT
    failed_count,
    lost_count,
    launch_count,
    (failed_count > 0 OR lost_count >= 5)
    AND 10 * (failed_count + lost_count) >= failed_count + lost_count + (SELECT count(*) FROM all_kernel) AS is_unknown
  FROM missing
  CROSS JOIN thread
)
SELECT
  max(is_unknown) AS is_unknown,
  max(failed_count) AS failed_count,
  max(lost_count) AS lost_count,
  max(launch_count) AS launch_count,
  max(CASE
    WHEN is_unknown AND lost_count = 0 THEN printf('the work of %d launches that failed', failed_count)
    WHEN is_unknown THEN printf('the work of %d of %d launches', failed_count + lost_count, launch_count)
  END) AS reason
FROM judged
