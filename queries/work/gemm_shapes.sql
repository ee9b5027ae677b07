/*---
name: gemm_shapes
version: 1
title: Shapes of matrix products
summary: One row per shape of a matrix product, with how it fits the GPU.
why: >-
  To see which products are slow because of their shape: sizes that matrix units do not like, or a last wave of blocks that
  leaves most SMs idle.
kind: sum
tags: [gpu, kernel, nvtx]
reads: [gpu, gpu_peak, kernel, op_work, operator_work]
requires: [kernel, op_work]
rows_if: EXISTS (SELECT 1 FROM operator_work)
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: op_name, type: text, label: "operator", priority: 0, doc: "Operator, such as aten::addmm."}
  - {name: batch, type: int, unit: count, priority: 2, doc: "Products in a call; more than 1 for batched products."}
  - {name: m, type: int, unit: count, label: "M", priority: 0, doc: "Rows of the result."}
  - {name: n, type: int, unit: count, label: "N", priority: 0, doc: "Columns of the result."}
  - {name: k, type: int, unit: count, label: "K", priority: 1, doc: "Length of the inner products."}
  - {name: data_type, type: text, label: "type", priority: 1, doc: "Type of the elements; null if unknown."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Calls of the operator."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the GPU operations of these calls."}
  - {name: tflop_per_s, type: real, label: "TFLOP/s", priority: 1, doc: "FLOPs divided by GPU time, in 10^12 per second."}
  - {name: peak_pct, type: percent, unit: percent, label: "share of peak", priority: 1, doc: "tflop_per_s as a share of the peak of the GPU for this type; null if unknown."}
  - {name: block_count, type: int, unit: count, label: "blocks", priority: 2, doc: "Blocks in the grid of the longest kernel; null without a kernel."}
  - {name: wave_count, type: real, label: "waves", priority: 1, doc: "block_count divided by the number of SMs; null if unknown."}
  - {name: tail_pct, type: percent, unit: percent, label: "idle SMs in all waves", priority: 1, doc: "Share of the SMs' time that the last, partial wave wastes if each SM runs one block at a time and all blocks take equally long; null if unknown."}
  - {name: hint, type: text, priority: 1, doc: "What in the shape may cost time: far fewer blocks than SMs, a size that is no multiple of what matrix units take, or a last wave; null if nothing does."}
  - {name: kernel_name, type: text, label: "longest kernel", priority: 3, doc: "Demangled name of the longest kernel; null without a kernel."}
  - {name: gpu_id, type: id, priority: 3, doc: "GPU number on its machine; null if unknown."}
checks:
  - m >= 0 AND n >= 0 AND k >= 0 AND call_count >= 1
when_empty: no matrix product has recorded shapes; work_coverage says what to record
limits: >-
  The waves suppose one block per SM, as large tiles need. Kernels with small tiles run several blocks per SM, and persistent
  kernels start as many blocks as there are SMs whatever the shape. Sizes should be multiples of 16 bytes: 4 elements of
  fp32, 8 of bf16 and fp16, 16 of fp8 and int8.
see_also: [op_efficiency, tensor_core_use, work_coverage]
---*/
WITH
product AS (
  SELECT
    op_name,
    batch,
    m,
    n,
    k,
    data_type,
    gpu_id,
    count(*) AS call_count,
    sum(gpu_ns) AS gpu_ns,
    sum(flop_count) AS flop_count,
    max(gpu_ns) AS longest_ns,
    -- SQLite takes the other columns of a row with max() from the row that has it.
    kernel_id
  FROM op_work
  WHERE kind = 'matmul'
    AND flop_count IS NOT NULL
    AND m IS NOT NULL
  GROUP BY op_name, batch, m, n, k, data_type, gpu_id
),
shaped AS (
  SELECT
    product.*,
    kernel.grid_x * kernel.grid_y * kernel.grid_z AS block_count,
    coalesce(gpu.sm_count, (SELECT max(sm_count) FROM gpu HAVING min(sm_count) = max(sm_count))) AS sm_count,
    kernel.kernel_name,
    peak.matmul_flop_per_s,
    CASE
      WHEN product.data_type IN ('fp32', 'int32') THEN 4
      WHEN product.data_type IN ('fp8', 'int8') THEN 16
      WHEN product.data_type IS NOT NULL THEN 8
    END AS multiple
  FROM product
  LEFT JOIN kernel
    ON kernel.kernel_id = product.kernel_id
  LEFT JOIN gpu
    ON gpu.gpu_id = product.gpu_id
  LEFT JOIN gpu_peak AS peak
    ON peak.gpu_id = product.gpu_id
    AND peak.data_type = product.data_type
),
waved AS (
  SELECT
    *,
    1.0 * block_count / nullif(sm_count, 0) AS wave_count,
    (block_count + sm_count - 1) / nullif(sm_count, 0) AS whole_waves
  FROM shaped
)
SELECT
  op_name,
  batch,
  m,
  n,
  k,
  data_type,
  call_count,
  gpu_ns,
  1e-3 * flop_count / nullif(gpu_ns, 0) AS tflop_per_s,
  1e11 * flop_count / nullif(gpu_ns, 0) / matmul_flop_per_s AS peak_pct,
  block_count,
  wave_count,
  100.0 * (whole_waves - wave_count) / nullif(whole_waves, 0) AS tail_pct,
  CASE
    WHEN k % multiple > 0 OR n % multiple > 0
      THEN iif(k % multiple > 0, 'K', 'N') || ' is no multiple of ' || multiple
    WHEN wave_count < 0.75 THEN 'far fewer blocks than SMs'
    WHEN wave_count < 4 AND whole_waves - wave_count > 0.25 * whole_waves THEN 'partial last wave'
  END AS hint,
  kernel_name,
  gpu_id
FROM waved
ORDER BY gpu_ns DESC, op_name, batch, m, n, k, data_type, gpu_id
LIMIT :limit
