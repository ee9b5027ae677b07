/*---
name: tensor_core_use
version: 1
title: Tensor core use
summary: One row per element type of products, convolutions and attention.
why: To see whether the heavy arithmetic runs in a type that the tensor cores serve, and how near to their peak.
kind: sum
tags: [gpu, nvtx]
reads: [operator_work]
rows_if: EXISTS (SELECT 1 FROM operator_work)
asks: [op_efficiency]
requires: [kernel, operator_work]
params:
  - {name: peaks, type: list, doc: "Measured peaks in TFLOP/s, such as bf16=790,fp8=1500."}
  - {name: data_type, type: text, doc: "Element type to assume where the report does not name it, such as bf16."}
  - {name: limit, type: int, default: -1, min: -1, doc: "Operators and shapes to look at, those with the most GPU time first; -1 looks at all."}
columns:
  - {name: data_type, type: text, label: "type", priority: 0, doc: "Type of the elements; null if unknown."}
  - {name: kind, type: text, priority: 0, doc: "matmul, convolution or attention."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Calls of these operators."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of their GPU operations."}
  - {name: flop_count, type: int, unit: count, label: "FLOPs", priority: 3, doc: "Floating-point operations of all calls."}
  - {name: tflop_per_s, type: real, label: "TFLOP/s", priority: 1, doc: "flop_count divided by gpu_ns, in 10^12 per second."}
  - {name: peak_pct, type: percent, unit: percent, label: "share of peak", priority: 1, doc: "tflop_per_s as a share of the GPU's peak for this type; null if unknown, or with GPUs of different peaks."}
  - {name: hint, type: text, priority: 1, doc: "What would make these operators faster; null if they use the tensor cores."}
  - {name: time_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the GPU time of all operations."}
checks:
  - gpu_ns >= 0 AND call_count >= 1
when_empty: no product, convolution or attention has recorded shapes; work_coverage says what to record
limits: >-
  The type is that of the inputs. The peak of fp32 is that of TF32, which a program must allow; without it, products of fp32
  reach a fraction of that peak. Whether a kernel used the tensor cores is not recorded.
see_also: [op_efficiency, gemm_shapes, work_coverage]
---*/
SELECT
  data_type,
  kind,
  sum(call_count) AS call_count,
  sum(gpu_ns) AS gpu_ns,
  sum(call_count * flop_count) AS flop_count,
  1e-3 * sum(call_count * flop_count) / nullif(sum(gpu_ns), 0) AS tflop_per_s,
  iif(
    min(peak_tflop_per_s) = max(peak_tflop_per_s),
    0.1 * sum(call_count * flop_count) / nullif(sum(gpu_ns), 0) / max(peak_tflop_per_s),
    NULL
  ) AS peak_pct,
  CASE data_type
    WHEN 'fp32' THEN 'allow TF32 (torch.set_float32_matmul_precision("high")) or use autocast with bf16'
    WHEN 'fp64' THEN 'use fp32 or less where the result allows it'
  END AS hint,
  sum(time_pct) AS time_pct
FROM op_efficiency
WHERE kind IN ('matmul', 'convolution', 'attention')
  AND flop_count IS NOT NULL
GROUP BY data_type, kind
ORDER BY sum(gpu_ns) DESC, data_type, kind
