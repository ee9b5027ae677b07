/*---
name: launch_latency
version: 2
title: Kernel launch latency
summary: Launch call, queue and execution times per kernel name.
why: To find kernels that take longer to launch than to run, and kernels that wait long.
kind: sum
tags: [api, cuda, kernel, latency]
reads: [all_kernel, launch, string]
requires: [kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
columns:
  - {name: calls, type: int, unit: count, doc: "Number of executions."}
  - {name: launches, type: int, unit: count, priority: 3, doc: "Calls that launched these executions. A graph launch counts once."}
  - {name: launch_bound_pct, type: percent, unit: percent, label: "launch-bound % of launches", priority: 1, doc: "Launches whose call took longer than the kernels it launched, and than their shortest wait after it, as a share of launches; null without a call."}
  - {name: api_total_ns, type: duration, unit: ns, label: "API call total", priority: 1, doc: "Sum of the durations of the launching calls, each counted once; null without a call."}
  - {name: api_mean_ns, type: duration, unit: ns, label: "API call mean", doc: "Mean duration of a launching call; null without a call."}
  - {name: api_median_ns, type: duration, unit: ns, label: "API call median", priority: 1, doc: "Median duration of a launching call; null without a call."}
  - {name: api_p90_ns, type: duration, unit: ns, label: "API call p90", priority: 3, doc: "90th percentile of these durations; null without a call."}
  - {name: api_p99_ns, type: duration, unit: ns, label: "API call p99", priority: 3, doc: "99th percentile of these durations; null without a call."}
  - {name: api_max_ns, type: duration, unit: ns, label: "API call max", priority: 3, doc: "Longest duration of a launching call; null without a call."}
  - {name: queued_calls, type: int, unit: count, doc: "Executions that started after their launching call returned."}
  - {name: queue_mean_ns, type: duration, unit: ns, doc: "Mean wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_median_ns, type: duration, unit: ns, priority: 1, doc: "Median wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_p90_ns, type: duration, unit: ns, priority: 3, doc: "90th percentile of these waits; null if no execution waited."}
  - {name: queue_p99_ns, type: duration, unit: ns, priority: 3, doc: "99th percentile of these waits; null if no execution waited."}
  - {name: queue_max_ns, type: duration, unit: ns, priority: 3, doc: "Longest wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: kernel_total_ns, type: duration, unit: ns, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: kernel_mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: kernel_median_ns, type: duration, unit: ns, priority: 1, doc: "Median execution time."}
  - {name: kernel_p90_ns, type: duration, unit: ns, priority: 3, doc: "90th percentile of the execution times."}
  - {name: kernel_p99_ns, type: duration, unit: ns, priority: 3, doc: "99th percentile of the execution times."}
  - {name: kernel_max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution time."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name."}
checks:
  - calls >= 1 AND queued_calls BETWEEN 0 AND calls AND launches BETWEEN 0 AND calls
  - launch_bound_pct IS NULL OR launch_bound_pct BETWEEN 0 AND 100
  - api_max_ns IS NULL OR api_median_ns <= api_max_ns
when_empty: "no kernel was recorded"
limits: >-
  Rows are sorted by api_total_ns, the cost on the CPU. A long queue time alone is not a fault: it means that the CPU
  is ahead of the GPU. A call that blocks because the queue is full counts as API time, but not as launch-bound:
  launch_queue has the time of these calls. Executions without a recorded call count only in calls and in the execution
  times. All kernels of a graph launch share one call: it counts once for each kernel name, and the wait of a later
  kernel includes the earlier ones. Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_kern_exec_sum, cuda_kern_exec_trace, launch_queue, top_kernels]
---*/
WITH
execution AS (
  SELECT
    CASE :name
      WHEN 'demangled' THEN kernel.name_id
      WHEN 'short' THEN kernel.short_name_id
      ELSE kernel.mangled_name_id
    END AS name_id,
    launch.call_id,
    launch.call_end_ns - launch.call_start_ns AS api_ns,
    CASE WHEN launch.start_ns >= launch.call_end_ns THEN launch.start_ns - launch.call_end_ns END AS queue_ns,
    launch.dur_ns AS kernel_ns
  FROM launch
  JOIN all_kernel AS kernel
    ON kernel.kernel_id = launch.op_id
  WHERE launch.op_kind = 'kernel'
),
-- A graph launch runs many kernels, but the time of its call counts once.
launching_call AS (
  SELECT
    name_id,
    call_id,
    min(api_ns) AS api_ns,
    sum(kernel_ns) AS kernel_ns,
    min(coalesce(queue_ns, 0)) AS queue_ns
  FROM execution
  WHERE call_id IS NOT NULL
  GROUP BY name_id, call_id
),
api_time AS (
  SELECT
    name_id,
    count(*) AS launches,
    -- Work that waited longer after the call than the call took would not have begun earlier after a faster call.
    100.0 * avg(api_ns > kernel_ns AND api_ns > queue_ns) AS launch_bound_pct,
    sum(api_ns) AS api_total_ns,
    avg(api_ns) AS api_mean_ns,
    median(api_ns) AS api_median_ns,
    percentile(api_ns, 90) AS api_p90_ns,
    percentile(api_ns, 99) AS api_p99_ns,
    max(api_ns) AS api_max_ns
  FROM launching_call
  GROUP BY name_id
),
kernel_time AS (
  SELECT
    name_id,
    count(*) AS calls,
    count(queue_ns) AS queued_calls,
    avg(queue_ns) AS queue_mean_ns,
    median(queue_ns) AS queue_median_ns,
    percentile(queue_ns, 90) AS queue_p90_ns,
    percentile(queue_ns, 99) AS queue_p99_ns,
    max(queue_ns) AS queue_max_ns,
    sum(kernel_ns) AS kernel_total_ns,
    avg(kernel_ns) AS kernel_mean_ns,
    median(kernel_ns) AS kernel_median_ns,
    percentile(kernel_ns, 90) AS kernel_p90_ns,
    percentile(kernel_ns, 99) AS kernel_p99_ns,
    max(kernel_ns) AS kernel_max_ns
  FROM execution
  GROUP BY name_id
)
SELECT
  kernel_time.calls,
  coalesce(api_time.launches, 0) AS launches,
  api_time.launch_bound_pct,
  api_time.api_total_ns,
  api_time.api_mean_ns,
  api_time.api_median_ns,
  api_time.api_p90_ns,
  api_time.api_p99_ns,
  api_time.api_max_ns,
  kernel_time.queued_calls,
  kernel_time.queue_mean_ns,
  kernel_time.queue_median_ns,
  kernel_time.queue_p90_ns,
  kernel_time.queue_p99_ns,
  kernel_time.queue_max_ns,
  kernel_time.kernel_total_ns,
  kernel_time.kernel_mean_ns,
  kernel_time.kernel_median_ns,
  kernel_time.kernel_p90_ns,
  kernel_time.kernel_p99_ns,
  kernel_time.kernel_max_ns,
  (SELECT text FROM string WHERE string_id = kernel_time.name_id) AS kernel_name
FROM kernel_time
LEFT JOIN api_time
  ON api_time.name_id = kernel_time.name_id
ORDER BY api_total_ns DESC, kernel_total_ns DESC, kernel_name, kernel_time.name_id
