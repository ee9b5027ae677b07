/*---
name: profiler_stalls
version: 1
title: The profiler blocks the host
summary: Idle time of a GPU while the profiler blocked the launching thread.
why: To see how much idle time comes from the measurement and not from the program.
kind: finding
tags: [capture, cuda, gpu]
reads: [all_profiler_overhead, compute_gap_part]
finding:
  claim: "Profiler stalls: the GPU idles while the profiler blocks the launching thread."
  ceiling: Time without a compute kernel that overlaps work of the profiler on the launching thread. The program without the profiler does not have it.
  remedy: >-
    Ignore this time, or record less: --delay and --duration or --capture-range=cudaProfilerApi, and fewer APIs in --trace.
  link: https://docs.nvidia.com/nsight-systems/UserGuide/index.html
  narrows: [allocation, host_sync, host_work, iteration_border, jit_and_module_load, launch_bound]
  confidence: high
  frees: idle
params:
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in this work of the profiler."}
  - {name: subject, type: text, label: "work of the profiler", priority: 0, doc: "What the profiler did, such as CUDA profiling data flush."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Overhead of single calls, about a microsecond each, is not recorded. Overhead on other threads, or without a known
  thread, does not count. Rows named dlopen(…) do not count either: the program loads these libraries itself.
see_also: [gpu_idle_causes]
---*/
WITH
held AS MATERIALIZED (
  SELECT overhead_id, start_ns, end_ns, overhead_name, global_tid
  FROM all_profiler_overhead
  WHERE is_own
),
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, after_name, global_tid
  FROM compute_gap_part
  WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API')
    AND dur_ns >= :least
    AND global_tid IN (SELECT global_tid FROM held)
    AND end_ns > (SELECT min(start_ns) FROM held)
    AND start_ns < (SELECT max(end_ns) FROM held)
),
met AS MATERIALIZED (
  SELECT span_id AS idle_id, by_id AS overhead_id, start_ns, end_ns - start_ns AS dur_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, idle_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, overhead_id, start_ns, end_ns) FROM held)
  )
  WHERE by_id IS NOT NULL
)
SELECT
  idle.gpu_id,
  met.start_ns,
  met.dur_ns,
  coalesce(held.overhead_name, 'unknown') AS subject,
  idle.after_name
FROM met
JOIN idle
  ON idle.idle_id = met.idle_id
JOIN held
  ON held.overhead_id = met.overhead_id
WHERE met.dur_ns >= :least
ORDER BY idle.gpu_id, met.start_ns, idle.idle_id
