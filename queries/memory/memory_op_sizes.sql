/*---
name: memory_op_sizes
version: 1
title: Memory operations by exact size
summary: Time of copies and fills per direction, kind of memory and exact size.
why: To compare copies of one size between runs. A mean over all sizes depends more on the mix of sizes.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, memset]
requires: [memcpy | memset]
columns:
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "A name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
  - {name: src_memory, type: text, label: "source memory", doc: "Kind of source memory, such as Pinned; null if unknown and for a fill."}
  - {name: dst_memory, type: text, label: "destination memory", doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 0, doc: "Size of each operation; null if unknown."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of operations."}
  - {name: time_pct, type: percent, unit: percent, label: "share of memory op time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of durations; overlapping operations count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of an operation."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the durations; 0 for one operation."}
  - {name: mean_error_ns, type: duration, unit: ns, priority: 1, doc: "Standard error of mean_ns, from mean_error(); null for one operation."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest operation."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest operation."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - time_pct BETWEEN 0 AND 100
  - mean_ns BETWEEN min_ns AND max_ns
when_empty: "no copy or fill was recorded"
limits: >-
  Sums cover all processes and devices. Times are those of the GPU; cuda_api_sum has what the calls cost the host.
  Copies in a CUDA graph traced as a whole are not included.
see_also: [memory_ops, memcpy_bandwidth, cuda_gpu_mem_time_sum]
---*/
WITH
operation AS (
  SELECT
    'memcpy' AS op_kind,
    copy_kind,
    '[CUDA memcpy ' || direction || ']' AS op_name,
    src_kind,
    src_memory,
    dst_kind,
    dst_memory,
    size_bytes,
    start_ns,
    dur_ns
  FROM memcpy
  UNION ALL
  SELECT
    'memset' AS op_kind,
    NULL AS copy_kind,
    '[CUDA memset]' AS op_name,
    NULL AS src_kind,
    NULL AS src_memory,
    mem_kind AS dst_kind,
    memory AS dst_memory,
    size_bytes,
    start_ns,
    dur_ns
  FROM memset
)
SELECT
  min(op_name) AS op_name,
  min(src_memory) AS src_memory,
  min(dst_memory) AS dst_memory,
  size_bytes,
  count(*) AS calls,
  100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS time_pct,
  sum(dur_ns) AS total_ns,
  avg(dur_ns) AS mean_ns,
  stddev(dur_ns) AS stddev_ns,
  mean_error(start_ns, dur_ns) AS mean_error_ns,
  min(dur_ns) AS min_ns,
  max(dur_ns) AS max_ns
FROM operation
GROUP BY op_kind, copy_kind, src_kind, dst_kind, size_bytes
ORDER BY total_ns DESC, size_bytes DESC, op_kind, copy_kind, src_kind, dst_kind
