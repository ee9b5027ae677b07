/*---
name: cuda_gpu_mem_time_sum
version: 1
title: CUDA GPU memory operation summary by time
summary: GPU time per kind of memory copy or fill, largest total first.
why: Shows at a glance which transfers cost GPU time; their sizes are in cuda_gpu_mem_size_sum.
kind: sum
tags: [cuda, memory]
reads: [memcpy, memset]
requires: [memcpy | memset]
columns:
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the operations' times; operations that overlap count in full."}
  - {name: calls, type: int, unit: count, doc: "Operations."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time of an operation."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median time; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest operation."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest operation."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the times; 0 for one."}
  - {name: op_name, type: text, doc: "[CUDA memcpy Host-to-Device] and its like, or [CUDA memset]."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  Adds up durations over all devices, processes and streams. Copies and fills in a CUDA graph that was traced as a whole
  are not in it. NVIDIA's report leaves out copies of an unknown kind; here they are a row of their own.
see_also: [cuda_gpu_mem_size_sum, memcpy_bandwidth, cuda_gpu_sum]
nsys:
  title: CUDA GPU MemOps Summary (by Time)
  aliases: [gpumemtimesum]
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Count, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Operation, sql: op_name}
---*/
WITH
memory_op AS (
  SELECT '[CUDA memcpy ' || direction || ']' AS op_name, dur_ns FROM memcpy
  UNION ALL
  SELECT '[CUDA memset]' AS op_name, dur_ns FROM memset
),
by_kind AS (
  SELECT
    op_name,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM memory_op
  GROUP BY op_name
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  op_name
FROM by_kind
ORDER BY total_ns DESC, calls DESC, op_name
