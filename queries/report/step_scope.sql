/*---
name: step_scope
version: 2
title: The window of some steps
summary: From the end of the GPU work before some steps to the end of their own.
why: To look at these steps only. The options --steady and --iter ask this.
kind: info
tags: [capture, gpu]
reads: [gpu_busy, gpu_window, launch, step_window, unseen_work]
requires: [step_window]
params:
  - {name: first, type: int, doc: "Number of the first step. Default: the first one after the warm-up."}
  - {name: last, type: int, doc: "Number of the last step. Default: the last one."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the window, on the report's clock; null without steps."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the window; null without steps."}
  - {name: gpu_start_ns, type: timestamp, unit: ns, doc: "Start of the first GPU operation of the report."}
  - {name: gpu_end_ns, type: timestamp, unit: ns, doc: "End of the last GPU operation of the report."}
  - {name: step_count, type: int, unit: count, doc: "Steps in the window, of the thread that has most."}
  - {name: all_count, type: int, unit: count, doc: "Steps of the report, of the thread that has most; null without steps."}
  - {name: found, type: text, doc: "marked if any step is marked by a range, else repeated; null without steps."}
  - {name: rest_start_ns, type: timestamp, unit: ns, doc: "Without steps: from when on the report shows what was launched in it; null if that is nearly the whole report. See rest_after."}
  - {name: rest_after, type: text, doc: "What is left out before: a wait for work that is not in the report, if it has most of these waits, and they take a tenth of the GPUs' time; or operations of earlier launches that take a twentieth. Null if nothing is."}
checks:
  - step_count >= 0
when_empty: "it has always one row"
limits: Threads with steps of their own share one window, from the first start to the last end.
see_also: [steps]
---*/
WITH
chosen AS (
  SELECT gpu_id, global_tid, step, start_ns, end_ns
  FROM step_window
  WHERE (step_count > 1 OR is_only)
    AND iif(:first IS NULL, part IN ('median', 'steady'), step >= :first)
    AND (:last IS NULL OR step <= :last)
),
has_steps AS MATERIALIZED (
  SELECT count(*) > 0 AS has_steps
  FROM step_window
  WHERE step_count > 1
    OR is_only
),
unseen AS (
  SELECT unseen_ns, end_ns, row_number() OVER (ORDER BY unseen_ns DESC, start_ns, gpu_id) AS nth
  FROM unseen_work
  WHERE NOT (SELECT has_steps FROM has_steps)
),
window_sum AS (
  SELECT sum(window_ns) AS window_ns
  FROM gpu_window
),
-- With steps, launches are not read.
launched AS MATERIALIZED (
  SELECT min(start_ns) AS start_ns
  FROM launch
  WHERE call_id IS NOT NULL
    AND NOT (SELECT has_steps FROM has_steps)
),
rest AS (
  SELECT max(iif(nth = 1, end_ns, NULL)) AS start_ns, 'a long wait for work that is not in the report' AS after
  FROM unseen
  HAVING 2 * max(unseen_ns) > sum(unseen_ns)
    AND 10 * sum(unseen_ns) >= (SELECT window_ns FROM window_sum)
  UNION ALL
  SELECT max(launched.start_ns), 'operations that were launched before the capture'
  FROM launched
  JOIN launch
    ON launch.end_ns <= launched.start_ns
    AND launch.correlation_id <> 0
    AND NOT (SELECT has_steps FROM has_steps)
  HAVING 20 * sum(launch.dur_ns) >= (SELECT window_ns FROM window_sum)
),
latest AS (
  SELECT start_ns, after
  FROM rest
  ORDER BY start_ns DESC
  LIMIT 1
)
SELECT
  min(start_ns) AS start_ns,
  max(end_ns) AS end_ns,
  (SELECT min(start_ns) FROM gpu_busy WHERE level = 'gpu' AND activity = 'any') AS gpu_start_ns,
  (SELECT max(end_ns) FROM gpu_busy WHERE level = 'gpu' AND activity = 'any') AS gpu_end_ns,
  coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM chosen GROUP BY gpu_id, global_tid)), 0) AS step_count,
  (SELECT max(step_count) FROM step_window WHERE step_count > 1 OR is_only) AS all_count,
  (SELECT min(found) FROM step_window WHERE step_count > 1 OR is_only) AS found,
  (SELECT start_ns FROM latest) AS rest_start_ns,
  (SELECT after FROM latest) AS rest_after
FROM chosen
