/*---
name: fp32_matmul
version: 1
title: FP32 matrix products on a GPU with tensor cores
summary: Time that FP32 matrix products would save on tensor cores.
why: To see what TF32, BF16 or FP16 could win.
kind: finding
tags: [gpu, kernel]
reads: [gpu, gpu_overlap]
finding:
  claim: Matrix products run in FP32 without tensor cores, on a GPU that has them.
  ceiling: The time of these kernels alone on the GPU, less what it would be at the peak of tensor cores.
  remedy: >-
    Allow TF32 with torch.set_float32_matmul_precision("high"), or use autocast with bfloat16 or float16; before Ampere only float16 uses tensor cores.
  link: https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
  confidence: high
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Kernel name."}
  - {name: speedup, type: int, unit: count, priority: 1, doc: "Peak of tensor cores against FP32 on this GPU: 16, 8 or 4."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
limits: >-
  A kernel counts if its name says sgemm, simt or f32f32_f32f32, and not tf32. The speed-up is that of the peaks (compute capability
  10: 16; 7.0, 7.5, 8.0, 9.0: 8; others: 4), so memory-bound products gain less. Precision falls: check the results.
see_also: [top_kernels, kernel_classes]
---*/
WITH
-- Look up each name once, by its ID.
name AS (
  SELECT
    name_id,
    (SELECT op_name FROM gpu_overlap AS named WHERE named.op_kind = 'kernel' AND named.op_id = any_op_id) AS op_name
  FROM (SELECT name_id, min(op_id) AS any_op_id FROM gpu_overlap WHERE op_kind = 'kernel' GROUP BY name_id)
  LIMIT -1
),
product AS (
  SELECT name_id, op_name
  FROM name
  WHERE (op_name GLOB '*sgemm*' OR op_name GLOB '*gemm*f32f32_f32f32*' OR op_name GLOB '*simt*gemm*')
    AND NOT op_name GLOB '*tf32*'
    AND NOT op_name GLOB '*tensorop*'
),
peak AS (
  SELECT
    gpu_id,
    CASE
      WHEN max(compute_capability) GLOB '10.*' THEN 16
      WHEN max(compute_capability) IN ('7.0', '7.2', '7.5', '8.0', '9.0') THEN 8
      WHEN CAST(max(compute_capability) AS REAL) >= 7.0 THEN 4
    END AS speedup
  FROM gpu
  GROUP BY gpu_id
),
freed AS (
  SELECT
    op.gpu_id,
    op.end_ns,
    op.dur_ns - op.dur_ns / peak.speedup - op.concurrent_ns AS freed_ns,
    product.op_name AS subject,
    peak.speedup,
    op.op_id
  FROM gpu_overlap AS op
  JOIN product
    ON product.name_id = op.name_id
  JOIN peak
    ON peak.gpu_id = op.gpu_id
  WHERE op.op_kind = 'kernel'
    AND peak.speedup IS NOT NULL
)
SELECT gpu_id, end_ns - freed_ns AS start_ns, freed_ns AS dur_ns, subject, speedup, op_id
FROM freed
WHERE freed_ns > 0
ORDER BY gpu_id, start_ns, op_id
