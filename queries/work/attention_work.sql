/*---
name: attention_work
version: 1
title: FLOPs and bytes of attention
summary: One row per shape of attention, with its FLOPs and speed.
why: To see how attention scales with the context, and how near it is to the peak.
kind: sum
tags: [gpu, nvtx]
reads: [gpu_peak, op_work, operator_work]
requires: [kernel, op_work]
rows_if: EXISTS (SELECT 1 FROM operator_work)
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: op_name, type: text, label: "operator", priority: 0, doc: "Operator, such as aten::_flash_attention_forward."}
  - {name: batch, type: int, unit: count, priority: 2, doc: "Sequences; null if the shapes do not show it, as of paged attention."}
  - {name: heads, type: int, unit: count, priority: 2, doc: "Heads of the queries; null if unknown."}
  - {name: query_count, type: int, unit: count, label: "queries", priority: 0, doc: "Queries of a sequence; of paged attention those of all sequences; null if unknown."}
  - {name: key_count, type: int, unit: count, label: "keys", priority: 1, doc: "Keys of a sequence; null if the shapes do not show it, as of paged attention."}
  - {name: width, type: int, unit: count, priority: 2, doc: "Width of a head; null if unknown."}
  - {name: is_causal, type: bool, label: "causal", priority: 1, doc: "1 if a query sees no later key; null if unknown."}
  - {name: data_type, type: text, label: "type", priority: 1, doc: "Type of the queries; null if unknown."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Calls of the operator."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the GPU operations of these calls."}
  - {name: flop_count, type: int, unit: count, label: "FLOPs", priority: 2, doc: "FLOPs of all calls; null if unknown."}
  - {name: tflop_per_s, type: real, label: "TFLOP/s", priority: 1, doc: "flop_count divided by gpu_ns, in 10^12 per second; null if unknown."}
  - {name: tb_per_s, type: real, label: "TB/s", priority: 1, doc: "Bytes that must be moved divided by gpu_ns, in 10^12 per second; null if unknown."}
  - {name: peak_pct, type: percent, unit: percent, label: "share of peak", priority: 1, doc: "tflop_per_s as a share of the GPU's peak for this type; null if unknown."}
  - {name: gpu_id, type: id, priority: 3, doc: "GPU number on its machine; null if unknown."}
checks:
  - gpu_ns >= 0 AND call_count >= 1
when_empty: no attention operator has recorded shapes; work_coverage says what to record
limits: >-
  Attention counts two products, QK^T and PV, and 2.5 times as much backward; of a causal square half. Attention written as
  products and softmax is in gemm_shapes. Paged attention needs the batch of the step in the annotation of the engine.
see_also: [op_efficiency, gemm_shapes, serving_steps]
---*/
SELECT
  work.op_name,
  work.batch,
  work.heads,
  work.m AS query_count,
  work.n AS key_count,
  work.k AS width,
  work.is_causal,
  work.data_type,
  count(*) AS call_count,
  sum(work.gpu_ns) AS gpu_ns,
  sum(work.flop_count) AS flop_count,
  1e-3 * sum(work.flop_count) / nullif(sum(work.gpu_ns), 0) AS tflop_per_s,
  1e-3 * sum(work.read_bytes + work.written_bytes) / nullif(sum(work.gpu_ns), 0) AS tb_per_s,
  1e11 * sum(work.flop_count) / nullif(sum(work.gpu_ns), 0) / max(peak.matmul_flop_per_s) AS peak_pct,
  work.gpu_id
FROM op_work AS work
LEFT JOIN gpu_peak AS peak
  ON peak.gpu_id = work.gpu_id
  AND peak.data_type = work.data_type
WHERE work.kind = 'attention'
GROUP BY work.op_name, work.batch, work.heads, work.m, work.n, work.k, work.is_causal, work.data_type, work.gpu_id
ORDER BY
  sum(work.gpu_ns) DESC,
  work.op_name,
  work.batch,
  work.heads,
  work.m,
  work.n,
  work.k,
  work.is_causal,
  work.data_type,
  work.gpu_id
LIMIT :limit
