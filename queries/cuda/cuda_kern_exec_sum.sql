/*---
name: cuda_kern_exec_sum
version: 2
title: CUDA kernel launch and execution summary
summary: Launch call, queue and execution times per thread, device and kernel.
why: To see which kernels are expensive to launch, which wait in the queue and which run long.
kind: sum
tags: [api, cuda, kernel, latency]
reads: [all_cuda_call, all_kernel, launch, nvtx_op, string]
requires: [kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
  - {name: nvtx_name, type: bool, default: false, doc: "Prefix the kernel name with the innermost NVTX range around its launch, and a slash."}
columns:
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 0, doc: "Operating system ID of the launching thread; null if the call was not recorded."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: queued_calls, type: int, unit: count, doc: "Executions that started after their launching call returned."}
  - {name: span_mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean time from the start of the call until both call and kernel have ended; null without a call."}
  - {name: span_median_ns, type: duration, unit: ns, doc: "Median time from the start of the call until both call and kernel have ended; null without a call."}
  - {name: span_min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest time from the start of the call until both call and kernel have ended; null without a call."}
  - {name: span_max_ns, type: duration, unit: ns, priority: 3, doc: "Longest time from the start of the call until both call and kernel have ended; null without a call."}
  - {name: span_stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of these times; 0 for one value; null without a call."}
  - {name: api_mean_ns, type: duration, unit: ns, label: "API call mean", priority: 1, doc: "Mean duration of the launching call; null without a call."}
  - {name: api_median_ns, type: duration, unit: ns, label: "API call median", doc: "Median duration of the launching call; null without a call."}
  - {name: api_min_ns, type: duration, unit: ns, label: "API call min", priority: 3, doc: "Shortest duration of the launching call; null without a call."}
  - {name: api_max_ns, type: duration, unit: ns, label: "API call max", priority: 3, doc: "Longest duration of the launching call; null without a call."}
  - {name: api_stddev_ns, type: duration, unit: ns, label: "API call stddev", priority: 3, doc: "Sample standard deviation of these durations; 0 for one value; null without a call."}
  - {name: queue_mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_median_ns, type: duration, unit: ns, doc: "Median wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_max_ns, type: duration, unit: ns, priority: 3, doc: "Longest wait from the return of the call to the start of the kernel; null if no execution waited."}
  - {name: queue_stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of these waits; 0 for one value; null if no execution waited."}
  - {name: kernel_mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: kernel_median_ns, type: duration, unit: ns, doc: "Median execution time."}
  - {name: kernel_min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution time."}
  - {name: kernel_max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution time."}
  - {name: kernel_stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: api_name, type: text, label: "API function", doc: "Launching function without its ABI version; null if the call was not recorded."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Launching function as recorded; null if the call was not recorded."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name, after the NVTX range if nvtx_name is true."}
checks:
  - calls >= 1 AND queued_calls BETWEEN 0 AND calls
  - kernel_median_ns BETWEEN kernel_min_ns AND kernel_max_ns
  - span_mean_ns IS NULL OR span_mean_ns >= kernel_mean_ns
when_empty: "no kernel was recorded"
limits: >-
  NVIDIA's report drops kernels whose launching call was not recorded; nsq keeps them as rows without a call. If a
  runtime call and the driver call inside it have the same correlation ID, NVIDIA counts the kernel for both; nsq counts
  it once, with the outer call. All kernels of a graph launch share one call, and each kernel counts the call in full.
  Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_kern_exec_trace, launch_latency, cuda_gpu_kern_sum]
nsys:
  title: CUDA Kernel Launch & Exec Time Summary
  aliases: [kernexecsum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  lacks:
    - {without: kernel, says: "CUDA kernel data"}
    - {says: "CUDA API data"}
  columns:
    - {name: PID, sql: pid}
    - {name: TID, sql: tid}
    - {name: DevId, sql: device_id}
    - {name: Count, sql: calls}
    - {name: QCount, sql: queued_calls}
    - {name: TAvg, unit: ns, sql: span_mean_ns}
    - {name: TMed, unit: ns, sql: span_median_ns}
    - {name: TMin, unit: ns, sql: span_min_ns}
    - {name: TMax, unit: ns, sql: span_max_ns}
    - {name: TStdDev, unit: ns, sql: span_stddev_ns}
    - {name: AAvg, unit: ns, sql: api_mean_ns}
    - {name: AMed, unit: ns, sql: api_median_ns}
    - {name: AMin, unit: ns, sql: api_min_ns}
    - {name: AMax, unit: ns, sql: api_max_ns}
    - {name: AStdDev, unit: ns, sql: api_stddev_ns}
    - {name: QAvg, unit: ns, sql: queue_mean_ns}
    - {name: QMed, unit: ns, sql: queue_median_ns}
    - {name: QMin, unit: ns, sql: queue_min_ns}
    - {name: QMax, unit: ns, sql: queue_max_ns}
    - {name: QStdDev, unit: ns, sql: "coalesce(queue_stddev_ns, 0.0)"}
    - {name: KAvg, unit: ns, sql: kernel_mean_ns}
    - {name: KMed, unit: ns, sql: kernel_median_ns}
    - {name: KMin, unit: ns, sql: kernel_min_ns}
    - {name: KMax, unit: ns, sql: kernel_max_ns}
    - {name: KStdDev, unit: ns, sql: kernel_stddev_ns}
    - name: API Name
      sql: >-
        CASE WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
    - {name: Kernel Name, sql: kernel_name}
---*/
WITH
execution AS (
  SELECT
    launch.global_pid,
    launch.pid,
    launch.global_tid,
    launch.tid,
    launch.device_id,
    launch.call_id,
    launch.call_name_id,
    CASE :name
      WHEN 'demangled' THEN kernel.name_id
      WHEN 'short' THEN kernel.short_name_id
      ELSE kernel.mangled_name_id
    END AS name_id,
    CASE
      WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
    END AS range_prefix,
    max(launch.end_ns, launch.call_end_ns) - launch.call_start_ns AS span_ns,
    launch.call_end_ns - launch.call_start_ns AS api_ns,
    CASE WHEN launch.start_ns >= launch.call_end_ns THEN launch.start_ns - launch.call_end_ns END AS queue_ns,
    launch.dur_ns AS kernel_ns
  FROM launch
  JOIN all_kernel AS kernel
    ON kernel.kernel_id = launch.op_id
  WHERE launch.op_kind = 'kernel'
),
by_kernel AS (
  SELECT
    global_pid,
    pid,
    global_tid,
    tid,
    device_id,
    call_name_id,
    name_id,
    range_prefix,
    min(call_id) AS any_call_id,
    count(*) AS calls,
    count(queue_ns) AS queued_calls,
    avg(span_ns) AS span_mean_ns,
    median(span_ns) AS span_median_ns,
    min(span_ns) AS span_min_ns,
    max(span_ns) AS span_max_ns,
    stddev(span_ns) AS span_stddev_ns,
    avg(api_ns) AS api_mean_ns,
    median(api_ns) AS api_median_ns,
    min(api_ns) AS api_min_ns,
    max(api_ns) AS api_max_ns,
    stddev(api_ns) AS api_stddev_ns,
    avg(queue_ns) AS queue_mean_ns,
    median(queue_ns) AS queue_median_ns,
    min(queue_ns) AS queue_min_ns,
    max(queue_ns) AS queue_max_ns,
    stddev(queue_ns) AS queue_stddev_ns,
    avg(kernel_ns) AS kernel_mean_ns,
    median(kernel_ns) AS kernel_median_ns,
    min(kernel_ns) AS kernel_min_ns,
    max(kernel_ns) AS kernel_max_ns,
    stddev(kernel_ns) AS kernel_stddev_ns
  FROM execution
  GROUP BY global_pid, global_tid, device_id, call_name_id, name_id, range_prefix
)
SELECT
  pid,
  tid,
  device_id,
  calls,
  queued_calls,
  span_mean_ns,
  span_median_ns,
  span_min_ns,
  span_max_ns,
  span_stddev_ns,
  api_mean_ns,
  api_median_ns,
  api_min_ns,
  api_max_ns,
  api_stddev_ns,
  queue_mean_ns,
  queue_median_ns,
  queue_min_ns,
  queue_max_ns,
  queue_stddev_ns,
  kernel_mean_ns,
  kernel_median_ns,
  kernel_min_ns,
  kernel_max_ns,
  kernel_stddev_ns,
  (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS api_name,
  (SELECT api_symbol FROM all_cuda_call WHERE call_id = any_call_id) AS api_symbol,
  coalesce(range_prefix, '') || (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
FROM by_kernel
ORDER BY
  span_mean_ns DESC, calls DESC, kernel_name, global_pid, global_tid, device_id, call_name_id, name_id, range_prefix
