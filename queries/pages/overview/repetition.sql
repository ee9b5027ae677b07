/*---
name: repetition
version: 1
title: What repeats
summary: The steps of the judged time, or how often its kernels run, in one row.
why: To conclude nothing on speed from what ran once, and to know which steps idle.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [gpu_window, kernel, scope, step_window]
requires: [gpu_window, step_window]
columns:
  - {name: step_count, type: int, unit: count, label: "steps", priority: 0, doc: "Steps of the judged time, of all threads and GPUs; 0 if nothing repeats. Steps of the warm-up and the tail count only where they are judged, as with --iter."}
  - {name: process_count, type: int, unit: count, label: "processes", priority: 1, doc: "Processes with these steps."}
  - {name: other_count, type: int, unit: count, label: "with other work", priority: 1, doc: "Those that launch other work, too, such as an evaluation; null unless one thread has all steps, on one GPU."}
  - {name: other_ns, type: duration, unit: ns, label: "their time", priority: 1, doc: "Time of these steps; null as other_count, or if there are none."}
  - {name: usual_idle_ns, type: duration, unit: ns, label: "usual idle time", priority: 1, doc: "Idle time of all other steps, if each idles as long as the median step; null as other_ns."}
  - {name: most_calls, type: int, unit: count, label: "most calls", priority: 1, doc: "Without steps: executions of the kernel that ran most often, of the five with most time. Null if there are steps, or no kernels."}
  - {name: long_kernel_ns, type: duration, unit: ns, label: "long kernel", priority: 1, doc: "Without steps: time of the kernel with most, if it takes a second or more each time. Else null."}
checks:
  - other_count IS NULL OR other_count < step_count
  - most_calls IS NULL OR step_count = 0
limits: See step_window. The median step stands for all that launch no other work.
see_also: [iteration_sum, steps, top_kernels]
---*/
WITH
steps AS MATERIALIZED (
  SELECT gpu_id, pid, global_tid, start_ns, end_ns, dur_ns, part, has_other_work
  FROM step_window
  WHERE step_count > 1
    OR is_only
),
-- The scope may be one step of the warm-up.
judged AS MATERIALIZED (
  SELECT *, part = 'median' AS is_median
  FROM steps
  WHERE part IN ('median', 'steady')
    OR (
      SELECT min(steps.start_ns) = scope.start_ns AND max(steps.end_ns) = scope.end_ns
      FROM steps
      CROSS JOIN scope
    )
),
total AS MATERIALIZED (
  SELECT
    count(*) AS step_count,
    count(DISTINCT pid) AS process_count,
    sum(has_other_work AND NOT is_median) AS other_count,
    sum(iif(has_other_work AND NOT is_median, dur_ns, NULL)) AS other_ns,
    count(DISTINCT gpu_id) = 1 AND count(DISTINCT global_tid) = 1 AS is_one_thread
  FROM judged
),
-- Kernels are not read if there are steps.
often AS MATERIALIZED (
  SELECT v1 AS calls, v2 AS total_ns, row_number() OVER (ORDER BY v2 DESC, v1 DESC) AS nth
  FROM json_rows(
    (
      SELECT sums_by(kernel.dur_ns, kernel.name_id)
      FROM (SELECT 1 FROM total WHERE step_count = 0) AS once
      CROSS JOIN kernel
    )
  )
)
SELECT
  step_count,
  process_count,
  iif(is_one_thread, other_count, NULL) AS other_count,
  iif(is_one_thread, other_ns, NULL) AS other_ns,
  (
    SELECT max(gpu.idle_ns) * (total.step_count - total.other_count)
    -- Windows are computed only if there are steps with other work.
    FROM (SELECT * FROM judged WHERE is_median AND total.is_one_thread AND total.other_count > 0) AS middle
    CROSS JOIN gpu_window AS gpu
    WHERE gpu.gpu_id = middle.gpu_id
      AND gpu.start_ns = middle.start_ns
      AND gpu.end_ns = middle.end_ns
  ) AS usual_idle_ns,
  (SELECT max(calls) FROM often WHERE nth <= 5) AS most_calls,
  (SELECT total_ns FROM often WHERE nth = 1 AND total_ns >= 1000000000 * calls) AS long_kernel_ns
FROM total
ORDER BY step_count
