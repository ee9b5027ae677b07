/*---
name: memory_bound_ops
version: 1
title: Memory-bound operators
summary: One row per memory-bound operator, over all its shapes.
why: To find what fusion would save - operators that read and write data only to change each element.
kind: sum
tags: [gpu, memory, nvtx]
reads: [operator_work]
rows_if: EXISTS (SELECT 1 FROM operator_work)
asks: [op_efficiency]
requires: [kernel, operator_work]
params:
  - {name: bandwidth, type: real, min: 0, doc: "Measured bandwidth of the device memory in GB/s."}
  - {name: data_type, type: text, doc: "Element type to assume where the report does not name it, such as bf16."}
  - {name: limit, type: int, default: -1, min: -1, doc: "Operators and shapes to look at, those with the most GPU time first; -1 looks at all."}
columns:
  - {name: op_name, type: text, label: "operator", priority: 0, doc: "Operator, such as aten::mul."}
  - {name: kind, type: text, priority: 2, doc: "Kind of work, such as elementwise or norm."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Memory-bound calls."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of their GPU operations."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "bytes", priority: 1, doc: "Bytes that these calls must read and write at least."}
  - {name: tb_per_s, type: real, label: "TB/s", priority: 1, doc: "size_bytes divided by gpu_ns, in 10^12 bytes per second."}
  - {name: bandwidth_pct, type: percent, unit: percent, label: "share of bandwidth", priority: 1, doc: "tb_per_s as a share of the peak bandwidth of the memory; null with several GPUs of different bandwidth."}
  - {name: saved_ns, type: duration, unit: ns, label: "gain at 80 %", priority: 2, doc: "GPU time that would be saved if all these calls reached 80 % of the roofline."}
  - {name: time_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the GPU time of all operations."}
checks:
  - gpu_ns >= 0 AND size_bytes > 0
when_empty: no operator is known to be bound by memory; work_coverage says what is known
limits: >-
  A fusion saves the bytes between two operators, so of a chain of elementwise operators nearly all but the first read and
  the last write. This table does not know which operators are neighbours.
see_also: [op_efficiency, work_coverage]
---*/
SELECT
  op_name,
  kind,
  sum(call_count) AS call_count,
  sum(gpu_ns) AS gpu_ns,
  sum(call_count * size_bytes) AS size_bytes,
  1e-3 * sum(call_count * size_bytes) / nullif(sum(gpu_ns), 0) AS tb_per_s,
  iif(
    min(peak_bytes_per_s) = max(peak_bytes_per_s),
    1e11 * sum(call_count * size_bytes) / nullif(sum(gpu_ns), 0) / max(peak_bytes_per_s),
    NULL
  ) AS bandwidth_pct,
  sum(saved_ns) AS saved_ns,
  sum(time_pct) AS time_pct
FROM op_efficiency
WHERE bound = 'memory'
GROUP BY op_name, kind
ORDER BY sum(gpu_ns) DESC, op_name, kind
