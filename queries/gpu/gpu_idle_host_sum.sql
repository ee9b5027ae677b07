/*---
name: gpu_idle_host_sum
version: 1
title: What the host did while the GPUs idled, in total
summary: Idle time of each GPU by what the launching thread did on its CPU.
why: To see whether the GPU waits for CUDA calls, for the operating system, for code, or for a CPU.
kind: sum
tags: [cuda, gpu, osrt]
reads: [cpu_sample, cpu_stack, host_part, string]
requires: [gpu_op | graph_trace]
params:
  - {name: at_least, type: duration, default: 0ns, min: 0, doc: "Shortest gap to count."}
  - {name: by, type: enum, values: [cause, function], default: cause, doc: "Rows: one per cause, or one per cause and function."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: cause, type: text, priority: 0, doc: "What the thread that launched the operation after the gap did: CUDA call; OS call, of the C library or POSIX threads; running its own code; runnable, but another thread had the CPU; blocked; off CPU, runnable or blocked; queued: the operation was launched, and waited for an event, another stream or the hardware; or unknown."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 1, doc: "Sum over all gaps of the GPU."}
  - {name: time_pct, type: percent, unit: percent, label: "share of idle time", priority: 1, doc: "total_ns as a share of all gaps of the GPU."}
  - {name: gap_count, type: int, unit: count, label: "gaps with it", priority: 2, doc: "Number of gaps that contain this time."}
  - {name: function_name, type: text, label: "top function", priority: 1, doc: "Function with the most of this time; for running, the innermost function with the most CPU samples. Null for other causes, and for running without samples. With by=function, the function of the row."}
  - {name: function_pct, type: percent, unit: percent, label: "share of cause", priority: 2, doc: "Time of function_name as a share of all time of the cause; for running, its samples as a share of sample_count."}
  - {name: sample_count, type: int, unit: count, label: "CPU samples", priority: 3, doc: "CPU samples of the thread in this time; counted only for running."}
  - {name: no_launch_ns, type: duration, unit: ns, label: "no launch known", priority: 3, doc: "Part of total_ns in gaps that end in an operation without a recorded launch; 0 except for unknown."}
checks:
  - total_ns > 0 AND time_pct BETWEEN 0 AND 100
  - no_launch_ns = 0 OR cause = 'unknown'
  - function_pct IS NULL OR function_pct BETWEEN 0 AND 100
when_empty: "no GPU had a gap of the length to count; -p at_least=0ns counts all gaps"
limits: >-
  The rows of a GPU add up to its gaps. Without at_least, that is idle_ns of gpu_time. The rows describe only the thread
  that launched the operation after the gap. Time outside CUDA calls is unknown unless the capture has OS runtime calls,
  context switches (--cpuctxsw) or CPU samples (--sample). An OS call counts before the state of the thread. Without
  context switches, a thread counts as running for one sampling period around each of its CPU samples. OS calls shorter
  than a microsecond are not recorded. A blocked thread outside a recorded call may be in a short one, or wait for a page.
  With --nvtx, --process and similar options, a gap is a time without work in the scope, so other work may run in it.
see_also: [gpu_idle_host, gpu_idle_cause_sum, gpu_time, cpu_hot, thread_time]
---*/
WITH
host AS MATERIALIZED (
  SELECT *
  FROM host_part
  WHERE gap_ns >= :at_least
),
-- A number for each pair of a GPU and a thread that launches to it.
running AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY gpu_id, global_tid) AS pair_id, gpu_id, global_tid, start_ns, end_ns
  FROM host
  WHERE cause = 'running'
),
sampled AS MATERIALIZED (
  SELECT pair.gpu_id, cpu_sample.sample_id
  FROM (SELECT DISTINCT pair_id, gpu_id, global_tid FROM running) AS pair
  JOIN cpu_sample
    ON cpu_sample.global_tid = pair.global_tid
  WHERE overlap_ns(
      (SELECT time_set(pair_id, start_ns, end_ns) FROM running),
      pair.pair_id,
      cpu_sample.at_ns,
      cpu_sample.at_ns + 1
    ) > 0
),
leaf AS (
  SELECT
    sampled.gpu_id,
    cpu_stack.name_id,
    min(cpu_stack.address) AS address,
    count(*) AS sample_count
  FROM cpu_stack
  JOIN sampled
    ON sampled.sample_id = cpu_stack.sample_id
  WHERE cpu_stack.from_leaf = 0
    AND NOT cpu_stack.is_mark
  GROUP BY sampled.gpu_id, cpu_stack.name_id
),
hot AS (
  SELECT *
  FROM (
    SELECT
      gpu_id,
      coalesce(
        nullif((SELECT text FROM string WHERE string_id = name_id), ''),
        printf('0x%x', address)
      ) AS function_name,
      sample_count,
      row_number() OVER (PARTITION BY gpu_id ORDER BY sample_count DESC, name_id) AS nth
    FROM leaf
  )
  WHERE nth = 1
),
by_function AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    cause,
    function_name,
    sum(dur_ns) AS function_ns,
    count(DISTINCT gap_start_ns) AS gap_count,
    sum(iif(part = 'unknown', dur_ns, 0)) AS no_launch_ns,
    row_number() OVER (PARTITION BY gpu_id, cause ORDER BY sum(dur_ns) DESC, function_name) AS nth
  FROM host
  GROUP BY gpu_id, cause, function_name
),
summed AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    cause,
    sum(function_ns) AS total_ns,
    max(iif(nth = 1 OR :by = 'function', function_name, NULL)) AS function_name,
    max(iif((nth = 1 OR :by = 'function') AND function_name IS NOT NULL, function_ns, NULL)) AS function_ns,
    sum(no_launch_ns) AS no_launch_ns,
    min(gap_count) AS gap_count
  FROM by_function
  GROUP BY gpu_id, cause, iif(:by = 'function', function_name, NULL)
),
gaps AS (
  SELECT gpu_id, cause, count(DISTINCT gap_start_ns) AS gap_count
  FROM host
  GROUP BY gpu_id, cause
)
SELECT
  summed.gpu_id,
  summed.device_id,
  summed.cause,
  summed.total_ns,
  100.0 * summed.total_ns / sum(summed.total_ns) OVER (PARTITION BY summed.gpu_id) AS time_pct,
  iif(:by = 'function', summed.gap_count, gaps.gap_count) AS gap_count,
  iif(summed.cause = 'running', hot.function_name, summed.function_name) AS function_name,
  iif(
    summed.cause = 'running',
    100.0 * hot.sample_count / (SELECT count(*) FROM sampled WHERE gpu_id = summed.gpu_id),
    100.0 * summed.function_ns / sum(summed.total_ns) OVER (PARTITION BY summed.gpu_id, summed.cause)
  ) AS function_pct,
  iif(summed.cause = 'running', (SELECT count(*) FROM sampled WHERE gpu_id = summed.gpu_id), 0) AS sample_count,
  summed.no_launch_ns
FROM summed
JOIN gaps
  ON gaps.gpu_id = summed.gpu_id
  AND gaps.cause = summed.cause
LEFT JOIN hot
  ON hot.gpu_id = summed.gpu_id
  AND summed.cause = 'running'
ORDER BY summed.gpu_id, summed.total_ns DESC, summed.cause, function_name
