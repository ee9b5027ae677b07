/*---
name: cuda_gpu_mem_time_sum
version: 1
title: CUDA GPU memory operation summary by time
summary: GPU time per kind of memory copy or fill, largest total first.
why: To see which transfers cost GPU time. Their sizes are in cuda_gpu_mem_size_sum.
kind: sum
tags: [cuda, memory]
reads: [memcpy, memset]
requires: [memcpy | memset]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of memory op time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of durations; overlapping operations count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of operations."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of an operation."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest operation."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest operation."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one value."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "A name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no copy or fill was recorded"
limits: >-
  Durations are added up over all devices, processes and streams. Copies and fills in a CUDA graph traced as a whole are
  not included. NVIDIA's report leaves out copies of an unknown kind; nsq has a row for them.
see_also: [cuda_gpu_mem_size_sum, memcpy_bandwidth, cuda_gpu_sum]
nsys:
  title: CUDA GPU MemOps Summary (by Time)
  aliases: [gpumemtimesum]
  lacks:
    - {says: "GPU memory data"}
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
