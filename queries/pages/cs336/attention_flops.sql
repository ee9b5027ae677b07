/*---
name: attention_flops
version: 2
title: FLOPs of attention
summary: FLOPs of attention's matrix products and softmax, with their GPU time.
why: >-
  To see that softmax takes far more time than its share of the arithmetic. The shape and the times are parameters,
  because a report does not record shapes.
kind: sum
tags: [cuda, kernel]
internal: true
reads: []
params:
  - {name: batch_size, type: int, required: true, min: 1, doc: "Sequences in a batch."}
  - {name: context_length, type: int, required: true, min: 1, doc: "Tokens in a sequence."}
  - {name: num_heads, type: int, required: true, min: 1, doc: "Attention heads per layer."}
  - {name: d_head, type: int, required: true, min: 1, doc: "Width of a head: d_model / num_heads."}
  - {name: scores_ns, type: real, min: 0, doc: "GPU time of QK^T in one attention, in ns."}
  - {name: softmax_ns, type: real, min: 0, doc: "GPU time of softmax in one attention, in ns."}
  - {name: values_ns, type: real, min: 0, doc: "GPU time of A V in one attention, in ns."}
  - {name: scores_gemm_ns, type: real, min: 0, doc: "Part of scores_ns spent in matrix product kernels, in ns."}
  - {name: values_gemm_ns, type: real, min: 0, doc: "Part of values_ns spent in matrix product kernels, in ns."}
columns:
  - {name: operation, type: text, priority: 0, doc: "Operation: scores (QK^T), softmax, values (A V), or products (scores and values together)."}
  - {name: flop_count, type: int, unit: count, label: "FLOPs", priority: 1, doc: "Floating-point operations of one attention."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "GPU time of one attention; null without times."}
  - {name: gflop_per_s, type: real, label: "GFLOP/s", priority: 1, doc: "flop_count divided by mean_ns; null without times."}
  - {name: flop_ratio, type: real, label: "FLOPs vs softmax", priority: 1, doc: "flop_count divided by the flop_count of softmax."}
  - {name: time_ratio, type: real, label: "time vs softmax", priority: 1, doc: "mean_ns divided by the mean_ns of softmax; null without times."}
  - {name: gemm_mean_ns, type: duration, unit: ns, label: "matrix product mean", priority: 3, doc: "Part of mean_ns spent in matrix product kernels; null for softmax and without times."}
  - {name: gemm_gflop_per_s, type: real, label: "matrix product GFLOP/s", priority: 3, doc: "flop_count divided by gemm_mean_ns; null without gemm_mean_ns."}
checks:
  - flop_count > 0
  - operation <> 'softmax' OR flop_ratio = 1.0
limits: >-
  The counts are formulas, with B batch_size, H num_heads and S context_length: 2 B H S^2 d_head for each product, and 5
  B H S^2 for softmax (maximum, difference, exponential, sum, quotient). Causal masking does not lower the counts,
  because the whole matrix is computed. A fused attention kernel that skips masked blocks does less work.
see_also: [range_time_sum, kernel_classes]
---*/
WITH
matrix (element_count) AS (
  SELECT :batch_size * :num_heads * :context_length * :context_length
),
operation (rank, operation, flop_count, gpu_ns, gemm_ns) AS (
  SELECT 1, 'scores', 2 * element_count * :d_head, :scores_ns, :scores_gemm_ns FROM matrix
  UNION ALL
  SELECT 2, 'softmax', 5 * element_count, :softmax_ns, NULL FROM matrix
  UNION ALL
  SELECT 3, 'values', 2 * element_count * :d_head, :values_ns, :values_gemm_ns FROM matrix
),
listed AS (
  SELECT *
  FROM operation
  UNION ALL
  SELECT 4, 'products', sum(flop_count), sum(gpu_ns), sum(gemm_ns)
  FROM operation
  WHERE operation <> 'softmax'
)
SELECT
  listed.operation,
  listed.flop_count,
  listed.gpu_ns AS mean_ns,
  listed.flop_count / nullif(listed.gpu_ns, 0) AS gflop_per_s,
  1.0 * listed.flop_count / softmax.flop_count AS flop_ratio,
  listed.gpu_ns / nullif(softmax.gpu_ns, 0) AS time_ratio,
  listed.gemm_ns AS gemm_mean_ns,
  listed.flop_count / nullif(listed.gemm_ns, 0) AS gemm_gflop_per_s
FROM listed
JOIN operation AS softmax
  ON softmax.operation = 'softmax'
ORDER BY listed.rank
