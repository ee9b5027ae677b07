/*---
name: below_roofline
version: 1
title: Operators far below the roofline
summary: Time that operators would save if they reached 80 % of the GPU's roofline.
why: To find operators that take much longer than their FLOPs and bytes need.
kind: finding
tags: [gpu, kernel, nvtx]
reads: [gpu_overlap, gpu_peak, op_work, operator_work]
requires: [gpu_overlap, op_work]
rows_if: EXISTS (SELECT 1 FROM operator_work)
finding:
  claim: "Slow operators: they take far longer than their FLOPs and bytes need."
  ceiling: The part of their longest kernel that exceeds the operator's roofline time at 80 %, while nothing else ran.
  remedy: >-
    Use a lower precision, pad sizes to multiples of 64, batch small products, or fuse operators that are bound by memory (-q op_efficiency).
  in_pytorch: >-
    torch.compile fuses them. Sizes: -q gemm_shapes.
  link: https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/
  confidence: low
  frees: kernels
  known_by:
    relation: operator_work
    where: data_type IS NOT NULL AND EXISTS (SELECT 1 FROM gpu_peak)
    needs: operator shapes and types on a GPU whose peak is known
    help: record a PyTorch trace with record_shapes=True, or give ranges their sizes by rules in names/work.yml
params:
  - {name: at_most_pct, type: real, default: 40, min: 0, max: 80, doc: "Largest share of the roofline of an operator to count."}
  - {name: at_least, type: duration, default: 10us, min: 0, doc: "Shortest kernel to count: shorter ones take mostly the time of a launch."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "operator", priority: 0, doc: "Operator, such as aten::mm."}
  - {name: shape, type: text, priority: 1, doc: "MxNxK of a matrix product, with its batch; sizes of the inputs of others."}
  - {name: roofline_pct, type: percent, unit: percent, label: "share of roofline", priority: 1, doc: "Shortest time of the call on this GPU, as a share of its GPU time."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the call's longest kernel in the raw table."}
limits: >-
  Peaks are those of the vendor, which assume the boost clock, TF32 for matrix products of FP32, and data in the device
  memory. Calls whose peak, type or work is unknown give no rows, nor do communication and parts in CUDA graphs.
see_also: [op_efficiency, gemm_shapes, work_coverage]
---*/
WITH
roof AS (
  SELECT
    work.gpu_id,
    work.op_name AS subject,
    work.shape,
    work.kernel_id,
    work.gpu_ns,
    -- Both sides must be known. FLOPs of a copy are 0, and need no peak.
    max(
      iif(
        work.flop_count = 0,
        0,
        1e9 * work.flop_count
        / iif(work.kind IN ('matmul', 'convolution', 'attention'), peak.matmul_flop_per_s, peak.vector_flop_per_s)
      ),
      1e9 * (work.read_bytes + work.written_bytes) / peak.bandwidth_bytes_per_s
    ) AS roofline_ns
  FROM op_work AS work
  JOIN gpu_peak AS peak
    ON peak.gpu_id = work.gpu_id
    AND peak.data_type = CASE
      WHEN work.data_type IN ('fp64', 'fp32', 'fp16', 'bf16', 'fp8', 'int8') THEN work.data_type
      WHEN work.kind NOT IN ('matmul', 'convolution', 'attention') THEN 'fp32'
    END
  WHERE work.kind <> 'communication'
    AND work.graph_op_count = 0
    AND work.gpu_ns >= :at_least
),
slow AS MATERIALIZED (
  SELECT *
  FROM roof
  WHERE 100.0 * roofline_ns <= :at_most_pct * gpu_ns
),
freed AS (
  SELECT
    op.gpu_id,
    op.end_ns,
    -- Other kernels of the call keep their time.
    CAST(min(op.dur_ns, slow.gpu_ns - slow.roofline_ns / 0.8) AS INTEGER)
      - max(op.concurrent_ns - op.communication_ns - op.memory_ns, 0) AS freed_ns,
    slow.subject,
    slow.shape,
    100.0 * slow.roofline_ns / slow.gpu_ns AS roofline_pct,
    slow.kernel_id
  FROM slow
  JOIN gpu_overlap AS op
    ON op.op_kind = 'kernel'
    AND op.op_id = slow.kernel_id
  WHERE op.dur_ns >= :at_least
)
SELECT gpu_id, end_ns - freed_ns AS start_ns, freed_ns AS dur_ns, subject, shape, roofline_pct, kernel_id
FROM freed
WHERE freed_ns > 0
ORDER BY gpu_id, start_ns, kernel_id
