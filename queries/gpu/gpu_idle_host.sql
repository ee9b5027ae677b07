/*---
name: gpu_idle_host
version: 1
title: What the host did while the GPUs idled
summary: Longest gaps of the GPUs, and what the launching thread did on its CPU.
why: To see for each long gap whether the thread was in a call, ran code, or had no CPU.
kind: trace
tags: [cuda, gpu, osrt]
reads: [cpu_sample, cpu_stack, gpu_gap, host_part, string]
requires: [gpu_gap]
params:
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by dur_ns; 1 is the longest."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the gap, which is the sum of the eight parts below."}
  - {name: cause, type: text, priority: 0, doc: "Largest of the eight parts: CUDA call, OS call, running, runnable, blocked, off CPU, queued or unknown."}
  - {name: cause_ns, type: duration, unit: ns, label: "in cause", priority: 1, doc: "Length of the part that cause names."}
  - {name: cuda_call_ns, type: duration, unit: ns, label: "CUDA call", doc: "Time in calls of the CUDA API, with the call that launched the operation after the gap."}
  - {name: os_call_ns, type: duration, unit: ns, label: "OS call", doc: "Time in calls of the C library or POSIX threads, outside the CUDA API."}
  - {name: running_ns, type: duration, unit: ns, label: "running", doc: "Time outside these calls in which the thread ran."}
  - {name: runnable_ns, type: duration, unit: ns, label: "runnable", priority: 3, doc: "Time outside these calls in which another thread had the CPU."}
  - {name: blocked_ns, type: duration, unit: ns, label: "blocked", priority: 3, doc: "Time outside these calls in which the thread waited for something."}
  - {name: off_cpu_ns, type: duration, unit: ns, label: "off CPU", doc: "Time outside these calls in which the thread was runnable or blocked, and the export does not record which."}
  - {name: queued_ns, type: duration, unit: ns, doc: "Time after the launch call returned: the operation waited for an event, another stream or the hardware."}
  - {name: unknown_ns, type: duration, unit: ns, doc: "Time in which the state of the thread is unknown; the whole gap if its launch was not recorded."}
  - {name: os_function_name, type: text, label: "top OS call", priority: 1, doc: "OS runtime function with the most time in the gap; null if there was none."}
  - {name: hot_function_name, type: text, label: "hot function", priority: 1, doc: "Innermost function with the most CPU samples of the thread in the gap; null without samples."}
  - {name: sample_count, type: int, unit: count, label: "CPU samples", priority: 3, doc: "CPU samples of the thread in the gap."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID of that thread; null if unknown."}
  - {name: after_name, type: text, label: "after", doc: "Operation that starts at the end of the gap; null at the end of the window."}
checks:
  - cause_ns = max(cuda_call_ns, os_call_ns, running_ns, runnable_ns, blocked_ns, off_cpu_ns, queued_ns, unknown_ns)
  - cuda_call_ns + os_call_ns + running_ns + runnable_ns + blocked_ns + off_cpu_ns + queued_ns + unknown_ns = dur_ns
  - sample_count >= 0 AND (sample_count > 0 OR hot_function_name IS NULL)
when_empty: "no GPU had a gap: each was busy from its first operation to its last"
limits: >-
  The parts describe one thread, the one that launched the operation after the gap, with the limits of
  gpu_idle_host_sum. hot_function_name covers the whole gap, with CUDA and OS calls. With --nvtx, --process and similar
  options, a gap is a time without work in the scope, so other work may run in it.
see_also: [gpu_idle_host_sum, gpu_idle_causes, cpu_hot]
---*/
WITH
longest AS (
  SELECT row_number() OVER (ORDER BY dur_ns DESC, start_ns, gpu_id) AS rank, *
  FROM gpu_gap
  WHERE level = 'gpu'
  ORDER BY dur_ns DESC, start_ns, gpu_id
  LIMIT :limit
),
called AS (
  SELECT
    longest.rank,
    host_part.cause,
    host_part.function_name,
    sum(host_part.dur_ns) AS part_ns,
    min(host_part.tid) AS tid,
    min(host_part.pid) AS pid,
    min(host_part.global_tid) AS global_tid,
    row_number() OVER (
      PARTITION BY longest.rank, host_part.cause
      ORDER BY sum(host_part.dur_ns) DESC, host_part.function_name
    ) AS nth
  FROM host_part
  CROSS JOIN longest
  WHERE longest.gpu_id = host_part.gpu_id
    AND longest.start_ns = host_part.gap_start_ns
  GROUP BY longest.rank, host_part.cause, host_part.function_name
),
gap AS MATERIALIZED (
  SELECT
    called.rank,
    longest.gpu_id,
    longest.device_id,
    longest.start_ns,
    longest.end_ns,
    longest.dur_ns,
    longest.after_name,
    sum(iif(called.cause = 'CUDA call', called.part_ns, 0)) AS cuda_call_ns,
    sum(iif(called.cause = 'OS call', called.part_ns, 0)) AS os_call_ns,
    sum(iif(called.cause = 'running', called.part_ns, 0)) AS running_ns,
    sum(iif(called.cause = 'runnable', called.part_ns, 0)) AS runnable_ns,
    sum(iif(called.cause = 'blocked', called.part_ns, 0)) AS blocked_ns,
    sum(iif(called.cause = 'off CPU', called.part_ns, 0)) AS off_cpu_ns,
    sum(iif(called.cause = 'queued', called.part_ns, 0)) AS queued_ns,
    sum(iif(called.cause = 'unknown', called.part_ns, 0)) AS unknown_ns,
    max(iif(called.cause = 'OS call' AND called.nth = 1, called.function_name, NULL)) AS os_function_name,
    min(called.tid) AS tid,
    min(called.pid) AS pid,
    min(called.global_tid) AS global_tid
  FROM called
  JOIN longest
    ON longest.rank = called.rank
  GROUP BY called.rank
),
thread AS MATERIALIZED (
  SELECT DISTINCT gpu_id, global_tid
  FROM gap
  WHERE global_tid IS NOT NULL
),
event AS (
  SELECT gpu_id, global_tid, start_ns AS at_ns, start_ns AS gap_ns, NULL AS sample_id
  FROM gap
  WHERE global_tid IS NOT NULL
  UNION ALL
  SELECT thread.gpu_id, thread.global_tid, cpu_sample.at_ns, NULL, cpu_sample.sample_id
  FROM thread
  JOIN cpu_sample
    ON cpu_sample.global_tid = thread.global_tid
),
-- The gaps of a GPU never overlap, so a sample is in the last one that began, or in none.
placed AS (
  SELECT
    gpu_id,
    global_tid,
    at_ns,
    sample_id,
    max(gap_ns) OVER (PARTITION BY gpu_id, global_tid ORDER BY at_ns RANGE UNBOUNDED PRECEDING) AS gap_start_ns
  FROM event
),
sampled AS MATERIALIZED (
  SELECT gap.rank, placed.sample_id
  FROM placed
  JOIN gap
    ON gap.gpu_id = placed.gpu_id
    AND gap.start_ns = placed.gap_start_ns
  WHERE placed.sample_id IS NOT NULL
    AND placed.at_ns < gap.end_ns
),
leaf AS (
  SELECT
    sampled.rank,
    cpu_stack.name_id,
    min(cpu_stack.address) AS address,
    row_number() OVER (PARTITION BY sampled.rank ORDER BY count(*) DESC, cpu_stack.name_id) AS nth
  FROM cpu_stack
  JOIN sampled
    ON sampled.sample_id = cpu_stack.sample_id
  WHERE cpu_stack.from_leaf = 0
    AND NOT cpu_stack.is_mark
  GROUP BY sampled.rank, cpu_stack.name_id
),
counted AS (
  SELECT rank, count(*) AS sample_count
  FROM sampled
  GROUP BY rank
),
measured AS (
  SELECT
    gap.*,
    max(cuda_call_ns, os_call_ns, running_ns, runnable_ns, blocked_ns, off_cpu_ns, queued_ns, unknown_ns) AS cause_ns,
    iif(
      leaf.rank IS NULL,
      NULL,
      coalesce(nullif((SELECT text FROM string WHERE string_id = leaf.name_id), ''), printf('0x%x', leaf.address))
    ) AS hot_function_name,
    coalesce(counted.sample_count, 0) AS sample_count
  FROM gap
  LEFT JOIN leaf
    ON leaf.rank = gap.rank
    AND leaf.nth = 1
  LEFT JOIN counted
    ON counted.rank = gap.rank
)
SELECT
  rank,
  gpu_id,
  device_id,
  start_ns,
  dur_ns,
  CASE cause_ns
    WHEN cuda_call_ns THEN 'CUDA call'
    WHEN os_call_ns THEN 'OS call'
    WHEN running_ns THEN 'running'
    WHEN runnable_ns THEN 'runnable'
    WHEN blocked_ns THEN 'blocked'
    WHEN off_cpu_ns THEN 'off CPU'
    WHEN queued_ns THEN 'queued'
    ELSE 'unknown'
  END AS cause,
  cause_ns,
  cuda_call_ns,
  os_call_ns,
  running_ns,
  runnable_ns,
  blocked_ns,
  off_cpu_ns,
  queued_ns,
  unknown_ns,
  os_function_name,
  hot_function_name,
  sample_count,
  tid,
  pid,
  after_name
FROM measured
ORDER BY rank
