/*---
name: step_scope
version: 1
title: The window of some steps
summary: From the end of the GPU work before some steps to the end of their own.
why: To look at these steps only. The options --steady and --iter ask this.
kind: info
tags: [capture, gpu]
reads: [gpu_busy, step_window]
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
  WHERE step_count > 1
    AND iif(:first IS NULL, part <> 'warm-up', step >= :first)
    AND (:last IS NULL OR step <= :last)
)
SELECT
  min(start_ns) AS start_ns,
  max(end_ns) AS end_ns,
  (SELECT min(start_ns) FROM gpu_busy WHERE level = 'gpu' AND activity = 'any') AS gpu_start_ns,
  (SELECT max(end_ns) FROM gpu_busy WHERE level = 'gpu' AND activity = 'any') AS gpu_end_ns,
  coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM chosen GROUP BY gpu_id, global_tid)), 0) AS step_count,
  (SELECT max(step_count) FROM step_window WHERE step_count > 1) AS all_count,
  (SELECT min(found) FROM step_window WHERE step_count > 1) AS found
FROM chosen
