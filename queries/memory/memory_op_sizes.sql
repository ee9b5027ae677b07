/*---
name: memory_op_sizes
version: 1
title: Memory operations by exact size
summary: Copies and fills by direction, kind of memory and exact size, with their spread.
why: Copies of one size can be compared from run to run - a mean over all sizes says more about the mix.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, memset]
requires: [memcpy | memset]
columns:
  - {name: op_name, type: text, doc: "[CUDA memcpy Host-to-Device] and its like, or [CUDA memset]."}
  - {name: src_memory, type: text, doc: "Kind of the memory read, such as Pinned; null if unknown and for a fill."}
  - {name: dst_memory, type: text, doc: "Kind of the memory written, such as Device; null if unknown."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Size of each operation; null if unknown."}
  - {name: calls, type: int, unit: count, doc: "Operations."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the operations' times; those that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time of an operation."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the times; 0 for one."}
  - {name: mean_error_ns, type: duration, unit: ns, doc: "Standard error of mean_ns, by mean_error(); null for one."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest operation."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest operation."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - time_pct BETWEEN 0 AND 100
  - mean_ns BETWEEN min_ns AND max_ns
limits: >-
  Adds up all processes and devices. Times are those of the GPU: what the call cost the host is in cuda_api_sum. Copies
  inside a CUDA graph that was traced as a whole are not in it.
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
