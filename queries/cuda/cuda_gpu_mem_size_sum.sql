/*---
name: cuda_gpu_mem_size_sum
version: 1
title: CUDA GPU memory operation summary by size
summary: Bytes per kind of memory copy or fill, largest total first.
why: To see how much data moves in which direction, and whether in large pieces or small ones.
kind: sum
tags: [cuda, memory]
reads: [memcpy, memset]
requires: [memcpy | memset]
columns:
  - {name: total_bytes, type: bytes, unit: bytes, priority: 1, doc: "Sum of bytes copied or written."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of operations."}
  - {name: mean_bytes, type: bytes, unit: bytes, priority: 1, doc: "Mean size of an operation."}
  - {name: median_bytes, type: bytes, unit: bytes, priority: 1, doc: "Median size; the mean of the two middle values if the count is even."}
  - {name: min_bytes, type: bytes, unit: bytes, priority: 3, doc: "Size of the smallest operation."}
  - {name: max_bytes, type: bytes, unit: bytes, priority: 3, doc: "Size of the largest operation."}
  - {name: stddev_bytes, type: bytes, unit: bytes, priority: 3, doc: "Sample standard deviation of the sizes; 0 for one operation."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "A name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
checks:
  - calls >= 1
  - median_bytes BETWEEN min_bytes AND max_bytes
when_empty: "no copy or fill was recorded"
limits: >-
  Copies and fills in a CUDA graph traced as a whole are not included. NVIDIA's report leaves out copies of an unknown
  kind; nsq has a row for them.
see_also: [cuda_gpu_mem_time_sum, memcpy_bandwidth]
nsys:
  title: CUDA GPU MemOps Summary (by Size)
  aliases: [gpumemsizesum]
  lacks:
    - {says: "GPU memory data"}
  columns:
    - {name: Total, unit: mb, sql: total_bytes}
    - {name: Count, sql: calls}
    - {name: Avg, unit: mb, sql: mean_bytes}
    # The median of an odd number of copies is a size of a copy, so an integer.
    - {name: Med, unit: mb, sql: "CASE calls % 2 WHEN 1 THEN CAST(median_bytes AS INTEGER) ELSE median_bytes END"}
    - {name: Min, unit: mb, sql: min_bytes}
    - {name: Max, unit: mb, sql: max_bytes}
    - {name: StdDev, unit: mb, sql: stddev_bytes}
    - {name: Operation, sql: op_name}
---*/
WITH
memory_op AS (
  SELECT '[CUDA memcpy ' || direction || ']' AS op_name, size_bytes FROM memcpy
  UNION ALL
  SELECT '[CUDA memset]' AS op_name, size_bytes FROM memset
)
SELECT
  sum(size_bytes) AS total_bytes,
  count(*) AS calls,
  avg(size_bytes) AS mean_bytes,
  median(size_bytes) AS median_bytes,
  min(size_bytes) AS min_bytes,
  max(size_bytes) AS max_bytes,
  stddev(size_bytes) AS stddev_bytes,
  op_name
FROM memory_op
GROUP BY op_name
ORDER BY total_bytes DESC, calls DESC, op_name
