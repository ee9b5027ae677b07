/*---
name: op_efficiency
version: 1
title: Operators compared with the roofline
summary: One row per operator and shape, with its share of the GPU's roofline.
why: >-
  To see how well the GPU worked, not only when: which matrix products are far from the peak, and which operators the
  memory bounds. Rows without a speed are work that the report does not describe.
kind: sum
tags: [gpu, kernel, nvtx]
reads: [data_type, gpu_peak, op_work]
requires: [kernel, op_work]
params:
  - {name: peaks, type: list, doc: "Measured peaks in TFLOP/s, such as bf16=790,fp8=1500. They replace those of gpu_peak."}
  - {name: bandwidth, type: real, min: 0, doc: "Measured bandwidth of the device memory in GB/s. It replaces that of gpu_peak."}
  - {name: data_type, type: text, doc: "Element type to assume where the report does not name it, such as bf16: ranges of emit_nvtx do not."}
  - {name: least, type: duration, default: 2us, doc: "A GPU operation whose roofline time is shorter is bound by its launch."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: op_name, type: text, label: "operator", priority: 0, doc: "Operator, such as aten::mm; without known work, the innermost range; (no range) outside any."}
  - {name: shape, type: text, priority: 0, doc: "MxNxK of a matrix product, with its batch; sizes of the inputs of others; null if the work is unknown."}
  - {name: data_type, type: text, label: "type", priority: 1, doc: "Type of the elements; null if unknown."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Calls of the operator that launched GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the GPU operations of these calls."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 2, doc: "gpu_ns divided by call_count."}
  - {name: tflop_per_s, type: real, label: "TFLOP/s", priority: 1, doc: "FLOPs divided by GPU time, in 10^12 per second; null if unknown."}
  - {name: tb_per_s, type: real, label: "TB/s", priority: 1, doc: "Bytes that must be moved, divided by GPU time, in 10^12 bytes per second; null if unknown."}
  - {name: roofline_pct, type: percent, unit: percent, label: "share of roofline", priority: 1, doc: "Roofline time as a share of mean_ns. Over 100 means that caches served a part of the bytes, or that the peak is wrong; null if unknown."}
  - {name: bound, type: text, priority: 1, doc: "What bounds the roofline time: compute, memory, or launch if it is too short for a GPU operation; null if unknown."}
  - {name: saved_ns, type: duration, unit: ns, label: "gain at 80 %", priority: 1, doc: "GPU time that would be saved if all calls reached 80 % of the roofline; 0 if they do, or if bound by the launch; null if unknown."}
  - {name: roofline_ns, type: duration, unit: ns, label: "roofline time", priority: 3, doc: "Shortest time of a call on this GPU: the longer of FLOPs by peak and bytes by bandwidth; null if unknown, and for communication, see bus_bandwidth."}
  - {name: flop_count, type: int, unit: count, label: "FLOPs", priority: 3, doc: "Floating-point operations of one call; null if unknown."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "bytes", priority: 3, doc: "Bytes that one call must read and write at least; null if unknown."}
  - {name: intensity, type: real, label: "FLOP/byte", priority: 3, doc: "flop_count divided by size_bytes; null if unknown."}
  - {name: kind, type: text, priority: 3, doc: "matmul, convolution, attention, norm, softmax, elementwise, reduction, copy, fill, lookup or communication; null if the work is unknown."}
  - {name: is_causal, type: bool, label: "causal", priority: 3, doc: "1 if attention is causal; null for other kinds."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 3, doc: "GPU operations of all calls."}
  - {name: peak_tflop_per_s, type: real, label: "peak TFLOP/s", priority: 3, doc: "Peak of the GPU for this kind and type; null if unknown."}
  - {name: peak_bytes_per_s, type: real, unit: bytes_per_s, label: "peak bandwidth", priority: 3, doc: "Peak bandwidth of the device memory; null if unknown."}
  - {name: peak_source, type: text, priority: 3, doc: "Where the peaks are from: given, a document of the vendor, or clock x SMs; null if unknown."}
  - {name: gpu_id, type: id, priority: 3, doc: "GPU number on its machine; null if unknown."}
  - {name: time_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the GPU time of all operations."}
checks:
  - gpu_ns >= 0 AND call_count >= 1
  - kind IS NOT NULL OR flop_count IS NULL
  - saved_ns IS NULL OR saved_ns BETWEEN 0 AND gpu_ns
when_empty: "no GPU operation has a recorded launch: nvtx_coverage says why"
limits: >-
  Work is known from shapes: of a PyTorch trace with record_shapes=True, or of ranges of
  emit_nvtx(record_shapes=True). It is never guessed from the names of kernels, but for the type of a product, see
  op_work. Kernels that torch.compile fused, and those of CUDA graphs, have no operator and are rows without a speed.
  The bytes are those that must move once; a kernel that reads them twice looks slower.
see_also: [work_coverage, bus_bandwidth, gemm_shapes, attention_work, mfu, memory_bound_ops, tensor_core_use]
---*/
WITH
given AS (
  SELECT
    lower(substr(value, 1, instr(value, '=') - 1)) AS data_type,
    1e12 * substr(value, instr(value, '=') + 1) AS flop_per_s
  FROM json_each(:peaks)
),
assumed AS (
  SELECT data_type, element_bytes
  FROM data_type
  WHERE type_name = lower(:data_type)
),
work AS (
  SELECT
    coalesce(op_name, '(no range)') AS op_name,
    kind,
    shape,
    coalesce(data_type, iif(kind IS NULL, NULL, (SELECT data_type FROM assumed))) AS data_type,
    is_causal,
    gpu_id,
    count(*) AS call_count,
    sum(op_count) AS op_count,
    sum(gpu_ns) AS gpu_ns,
    min(flop_count) AS flop_count,
    min(
      coalesce(
        read_bytes + written_bytes,
        (read_elements + written_elements)
        * coalesce(
          (SELECT element_bytes FROM data_type AS named WHERE named.type_name = op_work.data_type),
          (SELECT element_bytes FROM assumed)
        )
      )
    ) AS size_bytes
  FROM op_work
  GROUP BY op_name, kind, shape, data_type, is_causal, gpu_id
),
roof AS (
  SELECT
    work.*,
    coalesce(
      given.flop_per_s,
      iif(work.kind IN ('matmul', 'convolution', 'attention'), peak.matmul_flop_per_s, peak.vector_flop_per_s)
    ) AS peak_flop_per_s,
    coalesce(1e9 * :bandwidth, peak.bandwidth_bytes_per_s) AS peak_bytes_per_s,
    iif(given.flop_per_s IS NULL, peak.source, 'given') AS peak_source
  FROM work
  LEFT JOIN gpu_peak AS peak
    ON peak.gpu_id = work.gpu_id
    AND peak.data_type = CASE
      WHEN work.data_type IN ('fp64', 'fp32', 'fp16', 'bf16', 'fp8', 'int8') THEN work.data_type
      WHEN work.kind NOT IN ('matmul', 'convolution', 'attention') AND work.data_type IS NOT NULL THEN 'fp32'
    END
  LEFT JOIN given
    ON given.data_type = work.data_type
    AND work.kind IN ('matmul', 'convolution', 'attention')
),
timed AS (
  SELECT
    *,
    -- Both sides must be known. FLOPs of a copy are 0, and need no peak.
    -- The links between GPUs bound communication.
    iif(
      kind = 'communication',
      NULL,
      max(
        iif(flop_count = 0, 0, 1e9 * flop_count / peak_flop_per_s),
        1e9 * size_bytes / peak_bytes_per_s
      )
    ) AS roofline_ns,
    1e9 * flop_count / peak_flop_per_s AS compute_ns,
    1.0 * gpu_ns / call_count AS mean_ns
  FROM roof
)
SELECT
  op_name,
  shape,
  data_type,
  call_count,
  gpu_ns,
  mean_ns,
  1e-3 * flop_count / nullif(mean_ns, 0) AS tflop_per_s,
  1e-3 * size_bytes / nullif(mean_ns, 0) AS tb_per_s,
  100.0 * roofline_ns / nullif(mean_ns, 0) AS roofline_pct,
  CASE
    WHEN roofline_ns IS NULL THEN NULL
    WHEN roofline_ns < :least * op_count / call_count THEN 'launch'
    WHEN roofline_ns = compute_ns THEN 'compute'
    ELSE 'memory'
  END AS bound,
  CASE
    WHEN roofline_ns < :least * op_count / call_count THEN 0
    ELSE CAST(max(gpu_ns - call_count * roofline_ns / 0.8, 0) AS INTEGER)
  END AS saved_ns,
  roofline_ns,
  flop_count,
  size_bytes,
  1.0 * flop_count / nullif(size_bytes, 0) AS intensity,
  kind,
  is_causal,
  op_count,
  1e-12 * peak_flop_per_s AS peak_tflop_per_s,
  peak_bytes_per_s,
  peak_source,
  gpu_id,
  100.0 * gpu_ns / nullif(sum(gpu_ns) OVER (), 0) AS time_pct
FROM timed
ORDER BY gpu_ns DESC, op_name, shape, data_type, kind, is_causal, gpu_id
LIMIT :limit
