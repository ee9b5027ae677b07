/*---
name: event_sum
version: 1
title: What was recorded, by name
summary: Count and time of kernels, copies, CUDA, OS and MPI calls, and ranges per name.
why: To see in one table what a capture holds, and where its time is.
kind: sum
tags: [cuda, kernel, mpi, nvtx, osrt]
reads: [cuda_call, kernel, memcpy, memset, mpi_event, nvtx_range, os_call, string]
requires: [kernel | cuda_call | nvtx_range | memcpy | memset | os_call | mpi_event]
params:
  - {name: of, type: enum, default: all, values: [all, kernel, copy, call, range, os call, mpi], doc: "The kind to list."}
columns:
  - {name: kind, type: text, priority: 0, doc: "kernel, copy (also fills), call (CUDA API), range (NVTX), os call or mpi."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations. What overlaps, and nested ranges, count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "How often it ran."}
  - {name: min_ns, type: duration, unit: ns, priority: 1, doc: "Shortest one."}
  - {name: max_ns, type: duration, unit: ns, priority: 1, doc: "Longest one."}
  - {name: name, type: text, priority: 0, doc: "Demangled name of a kernel, operation, API function, range with its domain, or function."}
checks:
  - min_ns <= max_ns AND max_ns <= total_ns
limits: Kernels of a CUDA graph traced as a whole are not included.
see_also: [reports_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_api_sum, nvtx_sum, osrt_sum, mpi_event_sum]
---*/
WITH
-- Group by name ID, not text: it is many times faster.
kernel_name AS (
  SELECT name_id, sum(dur_ns) AS total_ns, count(*) AS calls, min(dur_ns) AS min_ns, max(dur_ns) AS max_ns
  FROM kernel
  GROUP BY name_id
),
call_name AS (
  SELECT
    name_id,
    min(api_name) AS name,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns
  FROM cuda_call
  GROUP BY name_id
),
os_name AS (
  SELECT name_id, sum(dur_ns) AS total_ns, count(*) AS calls, min(dur_ns) AS min_ns, max(dur_ns) AS max_ns
  FROM os_call
  -- The table also holds the times at which the profiler started and stopped in a process.
  WHERE event_class = 27
  GROUP BY name_id
),
memory_op AS (
  SELECT '[CUDA memcpy ' || direction || ']' AS name, dur_ns FROM memcpy
  UNION ALL
  SELECT '[CUDA memset]', dur_ns FROM memset
),
-- As in mpi_event_sum: a call can have several rows.
mpi_call AS (
  SELECT mpi_name AS name, max(dur_ns) AS dur_ns
  FROM mpi_event
  GROUP BY global_tid, start_ns, mpi_kind, mpi_name
),
own AS (
  SELECT
    'kernel' AS kind,
    (SELECT text FROM string WHERE string_id = name_id) AS name,
    total_ns,
    calls,
    min_ns,
    max_ns
  FROM kernel_name
  UNION ALL
  SELECT 'call', name, total_ns, calls, min_ns, max_ns
  FROM call_name
  UNION ALL
  SELECT 'os call', (SELECT text FROM string WHERE string_id = name_id), total_ns, calls, min_ns, max_ns
  FROM os_name
  UNION ALL
  SELECT 'copy', name, sum(dur_ns), count(*), min(dur_ns), max(dur_ns)
  FROM memory_op
  GROUP BY name
  UNION ALL
  SELECT 'mpi', name, sum(dur_ns), count(*), min(dur_ns), max(dur_ns)
  FROM mpi_call
  GROUP BY name
  UNION ALL
  SELECT 'range', range_name, sum(dur_ns), count(*), min(dur_ns), max(dur_ns)
  FROM nvtx_range
  GROUP BY range_name
)
SELECT
  kind,
  sum(total_ns) AS total_ns,
  sum(calls) AS calls,
  min(min_ns) AS min_ns,
  max(max_ns) AS max_ns,
  name
FROM own
WHERE total_ns IS NOT NULL
  AND :of IN ('all', kind)
GROUP BY kind, name
ORDER BY kind, total_ns DESC, name
