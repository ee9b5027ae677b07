/*---
name: gpu_idle_cpu
version: 1
title: Who had the CPU while the GPUs idled
summary: Idle time of GPUs with the launching thread off its CPU, by the thread there.
why: To see whether the launching thread loses its CPU to another thread.
kind: sum
tags: [cuda, gpu, osrt]
reads: [off_cpu_part, thread]
requires: [off_cpu_part, "gpu_op | graph_trace"]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: taker_name, type: text, label: "thread on the CPU", priority: 0, doc: "Name of the thread that ran on the CPU that the launching thread left; null if it has no name, or if no recorded thread ran there."}
  - {name: taker_tid, type: id, label: "its TID", priority: 0, doc: "Operating system thread ID of that thread; null if no recorded thread ran there: the CPU was idle, or ran a program that was not recorded."}
  - {name: taker_pid, type: id, label: "its PID", priority: 2, doc: "Operating system process ID of that thread; null as taker_tid is."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time off CPU", priority: 1, doc: "Idle time of the GPU in which the launching thread was off its CPU while this thread ran there."}
  - {name: time_pct, type: percent, unit: percent, label: "share of idle time off CPU", priority: 1, doc: "total_ns as a share of all idle time of the GPU in which the launching thread was off its CPU."}
  - {name: runnable_ns, type: duration, unit: ns, label: "launching thread runnable", priority: 1, doc: "Part of total_ns in which the launching thread was ready to run, so this thread kept it from running; 0 if the export does not record it."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 2, doc: "Number of these intervals."}
  - {name: longest_ns, type: duration, unit: ns, label: "longest", priority: 2, doc: "The longest of these intervals."}
  - {name: launch_tid, type: id, label: "launching TID", priority: 2, doc: "Operating system thread ID of the launching thread; the one with the most of this time if there are several."}
checks:
  - total_ns > 0 AND time_pct BETWEEN 0 AND 100
  - runnable_ns <= total_ns
when_empty: "no launching thread was off its CPU while its GPU idled"
limits: >-
  The rows of a GPU add up to the causes runnable, blocked and off CPU of gpu_idle_host_sum. Captures on Linux do not record
  runnable from blocked: a thread that waits for something leaves its CPU to others, who then are not the reason. nsys
  records the switches of the profiled processes, unless it traces the whole system.
see_also: [gpu_idle_host_sum, thread_time, oversubscribed]
---*/
WITH
by_thread AS (
  SELECT
    gpu_id,
    taker_global_tid,
    tid,
    sum(dur_ns) AS total_ns,
    sum(iif(cause = 'runnable', dur_ns, 0)) AS runnable_ns,
    count(*) AS interval_count,
    max(dur_ns) AS longest_ns,
    row_number() OVER (PARTITION BY gpu_id, taker_global_tid ORDER BY sum(dur_ns) DESC, tid) AS nth
  FROM off_cpu_part
  GROUP BY gpu_id, taker_global_tid, tid
)
SELECT
  gpu_id,
  (SELECT thread_name FROM thread WHERE thread.global_tid = taker_global_tid) AS taker_name,
  taker_global_tid & 16777215 AS taker_tid,
  taker_global_tid >> 24 & 16777215 AS taker_pid,
  sum(total_ns) AS total_ns,
  100.0 * sum(total_ns) / sum(sum(total_ns)) OVER (PARTITION BY gpu_id) AS time_pct,
  sum(runnable_ns) AS runnable_ns,
  sum(interval_count) AS interval_count,
  max(longest_ns) AS longest_ns,
  max(iif(nth = 1, tid, NULL)) AS launch_tid
FROM by_thread
GROUP BY gpu_id, taker_global_tid
ORDER BY gpu_id, sum(total_ns) DESC, taker_global_tid
