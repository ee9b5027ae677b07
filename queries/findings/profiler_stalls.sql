/*---
name: profiler_stalls
version: 1
title: The profiler holds up the host
summary: Idle time of a GPU while the profiler held up the thread that feeds it.
why: To see how much idle time comes from the measurement and not from the program.
kind: finding
tags: [capture, cuda, gpu]
reads: [all_profiler_overhead, compute_gap_part]
finding:
  claim: The GPU waits while the profiler itself holds up the thread that feeds it.
  ceiling: Time without a compute kernel that overlaps work of the profiler on the launching thread. The program without the profiler does not have it.
  remedy: Ignore this time, or record less. Capture a window after the warm-up with --delay and --duration or --capture-range=cudaProfilerApi, and trace fewer APIs with --trace.
  link: https://docs.nvidia.com/nsight-systems/UserGuide/index.html
  narrows: [allocation, host_sync, host_work, iteration_border, jit_and_module_load, launch_bound]
  confidence: high
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
  WHERE NOT coalesce(overhead_name GLOB 'dlopen(*', 0)
),
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, after_name, global_tid
  FROM compute_gap_part
  WHERE part NOT IN ('queued', 'unknown')
    AND dur_ns >= :least
    AND global_tid IN (SELECT global_tid FROM held)
    AND end_ns > (SELECT min(start_ns) FROM held)
    AND start_ns < (SELECT max(end_ns) FROM held)
),
thread AS MATERIALIZED (
  SELECT DISTINCT global_tid, gpu_id
  FROM idle
),
-- What is left of each after the earlier ones of its thread: no two overlap.
apart AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      overhead_id,
      global_tid,
      max(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns,
      end_ns
    FROM held
    WINDOW earlier AS (
      PARTITION BY global_tid
      ORDER BY start_ns, end_ns DESC, overhead_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
  )
  WHERE end_ns > start_ns
),
event AS (
  SELECT global_tid, gpu_id, start_ns AS at_ns, idle_id, 0 AS overhead_id
  FROM idle
  UNION ALL
  SELECT global_tid, gpu_id, end_ns, -idle_id, 0
  FROM idle
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, apart.start_ns, 0, apart.overhead_id
  FROM thread
  JOIN apart
    ON apart.global_tid = thread.global_tid
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, apart.end_ns, 0, -apart.overhead_id
  FROM thread
  JOIN apart
    ON apart.global_tid = thread.global_tid
),
-- At most one interval of each kind is open at a time, so that the sums of IDs are IDs.
swept AS (
  SELECT
    at_ns AS start_ns,
    lead(at_ns) OVER (PARTITION BY global_tid, gpu_id ORDER BY at_ns) - at_ns AS dur_ns,
    sum(idle_id) OVER so_far AS idle_id,
    sum(overhead_id) OVER so_far AS overhead_id
  FROM event
  WINDOW so_far AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
)
SELECT
  idle.gpu_id,
  swept.start_ns,
  swept.dur_ns,
  coalesce(held.overhead_name, 'unknown') AS subject,
  idle.after_name
FROM swept
JOIN idle
  ON idle.idle_id = swept.idle_id
JOIN held
  ON held.overhead_id = swept.overhead_id
WHERE swept.dur_ns >= :least
  AND swept.dur_ns > 0
ORDER BY idle.gpu_id, swept.start_ns, idle.idle_id
