/*---
name: fp32_matmul
version: 1
title: FP32 matrix products without tensor cores
summary: Time that an FP32 matrix product alone on the GPU could save on tensor cores.
why: To see how much time TF32, BF16 or FP16 could save, as an upper bound.
kind: finding
tags: [cuda, gpu, kernel]
reads: [device, gpu, gpu_overlap, gpu_window, kernel, scope, string]
requires: [gpu_overlap, kernel, gpu]
finding:
  claim: "FP32 on CUDA cores: matrix products do not use the tensor cores."
  ceiling: The time of these kernels above what the peak rate of the tensor cores allows. Time in which another operation ran on the GPU does not count.
  remedy: >-
    Run them on tensor cores: in FP16, or from Ampere on in BF16 or TF32.
  in_pytorch: >-
    torch.autocast; for TF32, torch.set_float32_matmul_precision("high") and torch.backends.cudnn.allow_tf32.
  link: https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html
  confidence: medium
  frees: kernels
  narrows: [below_roofline]
params:
  - {name: least, type: duration, default: 10us, min: 0, doc: "Shortest kernel to consider."}
  - {name: speedup, type: real, min: 1, doc: "Times that tensor cores are faster; without a value, 8 or 2 by compute capability."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that would be saved: the last part of the kernel."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time that would be saved."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", doc: "Duration of the kernel."}
  - {name: speedup, type: real, label: "speedup", doc: "Upper bound of how many times faster tensor cores are."}
  - {name: kernel_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the kernel in the raw table."}
checks:
  - dur_ns > 0 AND dur_ns < kernel_ns
  - speedup > 1
when_empty: "no kernel is known by name as an FP32 matrix product on CUDA cores, or these kernels take little time"
limits: >-
  The data type is from the name of the kernel: sgemm, scudnn, or f32f32 with ffma. The speedup is the ratio of peak rates
  in NVIDIA's data sheets: 8 for compute capability 8.0 and 9.0 (A100: TF32 156, FP32 19.5 TFLOPS) and 10.0, 8 for 7.0
  and 7.5 (V100: FP16 125, FP32 15.7), and 2 for 8.6, 8.9 and 12.0 (RTX 3090: BF16 71, FP32 35.6). TF32 alone gains
  nothing on some GeForce GPUs. Products with a small or thin matrix are limited by memory and gain less. TF32, BF16 and
  FP16 round more than FP32: check the results.
see_also: [top_kernels, class_sum, kernel_classes]
---*/
WITH
-- GPUs of the series GTX 16, T400 to T1200 and MX have compute capability 7.5 without tensor cores.
tensor AS MATERIALIZED (
  SELECT
    gpu_id,
    coalesce(
      :speedup,
      CASE
        WHEN compute_capability IN ('7.0', '8.0', '9.0', '10.0') THEN 8.0
        WHEN compute_capability = '7.5' AND (gpu_name GLOB '*RTX*' OR gpu_name GLOB '*T4' OR gpu_name GLOB '*T4G')
          THEN 8.0
        WHEN compute_capability IN ('8.6', '8.9', '12.0') THEN 2.0
      END
    ) AS speedup
  FROM (
    SELECT gpu_id, min(compute_capability) AS compute_capability, min(gpu_name) AS gpu_name
    FROM gpu
    WHERE gpu_id IN (SELECT device.gpu_id FROM device)
    GROUP BY gpu_id
  )
),
fp32 AS MATERIALIZED (
  SELECT string_id AS name_id, simple_name(text) AS simple_name
  FROM string
  WHERE (text GLOB '*sgemm*' OR text GLOB '*scudnn*' OR text GLOB '*f32f32_f32f32_f32*_ffma_*')
    AND NOT (text GLOB '*fp16*' OR text GLOB '*bf16*' OR text GLOB '*tf32*' OR text GLOB '*tensorop*')
),
-- Less time than the peak rates allow, if something else ran meanwhile.
saved AS (
  SELECT
    overlap.gpu_id,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns,
    CAST(overlap.in_window_ns * (1.0 - 1.0 / tensor.speedup) AS INTEGER)
      - max(overlap.concurrent_ns - overlap.communication_ns - overlap.memory_ns, 0) AS dur_ns,
    fp32.simple_name,
    overlap.dur_ns AS kernel_ns,
    tensor.speedup,
    overlap.op_id AS kernel_id
  FROM kernel
  CROSS JOIN scope
  JOIN fp32
    ON fp32.name_id = kernel.name_id
  JOIN gpu_overlap AS overlap
    ON overlap.op_kind = 'kernel'
    AND overlap.op_id = kernel.kernel_id
  JOIN tensor
    ON tensor.gpu_id = overlap.gpu_id
  WHERE overlap.activity = 'compute'
    AND overlap.dur_ns >= :least
    AND tensor.speedup > 1
),
counted AS (
  SELECT *, sum(dur_ns) OVER (PARTITION BY gpu_id) AS total_ns
  FROM saved
  WHERE dur_ns > 0
)
SELECT
  counted.gpu_id,
  counted.to_ns - counted.dur_ns AS start_ns,
  counted.dur_ns,
  counted.simple_name AS subject,
  counted.kernel_ns,
  counted.speedup,
  counted.kernel_id
FROM counted
JOIN gpu_window
  ON gpu_window.gpu_id = counted.gpu_id
WHERE 100.0 * counted.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY counted.gpu_id, start_ns, counted.kernel_id
