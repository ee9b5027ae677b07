/*---
name: gpu_peak
summary: One row per GPU and element type, with the most that the GPU can compute.
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: [gpu, hardware_peak, process_device, src_target_gpu]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine."}
  - {name: gpu_name, type: text, doc: "Name of the GPU."}
  - {name: data_type, type: text, doc: "fp64, fp32, fp16, bf16, fp8 or int8."}
  - {name: matmul_flop_per_s, type: real, doc: "Peak of dense matrix products with these elements, on matrix units if there are any, in FLOP/s; null if unknown or not supported."}
  - {name: vector_flop_per_s, type: real, doc: "Peak of other arithmetic with these elements, in FLOP/s; null if unknown."}
  - {name: bandwidth_bytes_per_s, type: real, unit: bytes_per_s, doc: "Peak bandwidth of the device memory; null if unknown."}
  - {name: source, type: text, doc: "Document of the vendor; or clock x SMs: an upper bound from the clock and the number of SMs in the report."}
limits: >-
  FP32 products have the peak of TF32, where the GPU has it: what the hardware could do if the program allowed it. The
 
  bound from the clock counts the full rate of the architecture; consumer GPUs may have half.
---*/
WITH
-- A container may number its GPUs anew. If all GPUs are of one model, that does not matter.
model AS (
  SELECT min(gpu_id) AS gpu_id
  FROM gpu
  HAVING min(gpu_name) = max(gpu_name)
),
used AS (
  SELECT gpu_id, gpu_id AS like_gpu_id
  FROM gpu
  UNION ALL
  SELECT DISTINCT process_device.gpu_id, model.gpu_id
  FROM process_device
  CROSS JOIN model
  WHERE process_device.gpu_id NOT IN (SELECT gpu_id FROM gpu)
),
listed AS (
  SELECT gpu_id, min(place) AS place
  FROM gpu
  JOIN hardware_peak
    ON gpu.gpu_name GLOB hardware_peak.gpu_pattern
  GROUP BY gpu_id
),
-- FLOPs of an SM in a cycle: FP64, products in FP64, FP32, TF32, FP16, FP8 and INT8.
sm (compute_capability, fp64, fp64_matmul, fp32, tf32, fp16, fp8, int8) AS (
  VALUES
  ('6.0', 64, 64, 128, 128, 256, NULL, NULL),
  ('7.0', 64, 64, 128, 128, 1024, NULL, NULL),
  ('7.5', 4, 4, 128, 128, 1024, NULL, 2048),
  ('8.0', 64, 128, 128, 1024, 2048, NULL, 4096),
  ('8.6', 4, 4, 256, 512, 1024, NULL, 2048),
  ('8.7', 4, 4, 256, 512, 1024, NULL, 2048),
  ('8.9', 4, 4, 256, 512, 1024, 2048, 2048),
  ('9.0', 128, 256, 256, 2048, 4096, 8192, 8192),
  ('10.0', 128, 128, 256, 4096, 8192, 16384, 16384),
  ('12.0', 4, 4, 256, 512, 1024, 2048, 2048)
),
peak AS (
  SELECT
    used.gpu_id,
    gpu.gpu_name,
    coalesce(1e12 * hardware.fp64_tflop_per_s, cycle.per_s * sm.fp64) AS fp64,
    coalesce(1e12 * hardware.fp64_matmul_tflop_per_s, cycle.per_s * sm.fp64_matmul) AS fp64_matmul,
    coalesce(1e12 * hardware.fp32_tflop_per_s, cycle.per_s * sm.fp32) AS fp32,
    coalesce(1e12 * hardware.tf32_tflop_per_s, cycle.per_s * sm.tf32) AS tf32,
    coalesce(1e12 * hardware.fp16_tflop_per_s, cycle.per_s * sm.fp16) AS fp16,
    iif(hardware.place IS NULL, cycle.per_s * sm.fp8, 1e12 * hardware.fp8_tflop_per_s) AS fp8,
    iif(hardware.place IS NULL, cycle.per_s * sm.int8, 1e12 * hardware.int8_tflop_per_s) AS int8,
    coalesce(nullif(cycle.bandwidth, 0), 1e9 * hardware.bandwidth_gb_per_s) AS bandwidth_bytes_per_s,
    coalesce(hardware.document, iif(sm.fp32 IS NOT NULL AND cycle.per_s > 0, 'clock x SMs', NULL)) AS source
  FROM used
  JOIN gpu
    ON gpu.gpu_id = used.like_gpu_id
  LEFT JOIN listed
    ON listed.gpu_id = gpu.gpu_id
  LEFT JOIN hardware_peak AS hardware
    ON hardware.place = listed.place
  LEFT JOIN sm
    ON sm.compute_capability = gpu.compute_capability
  LEFT JOIN (
    SELECT id AS gpu_id, 1.0 * clockRate * smCount AS per_s, 1.0 * memoryBandwidth AS bandwidth
    FROM src_target_gpu
  ) AS cycle
    ON cycle.gpu_id = gpu.gpu_id
),
typed AS (
  SELECT gpu_id, gpu_name, 'fp64' AS data_type, fp64_matmul AS matmul, fp64 AS vector, bandwidth_bytes_per_s, source
  FROM peak
  UNION ALL
  SELECT gpu_id, gpu_name, 'fp32', tf32, fp32, bandwidth_bytes_per_s, source
  FROM peak
  UNION ALL
  SELECT peak.gpu_id, peak.gpu_name, half.data_type, peak.fp16, peak.fp32, peak.bandwidth_bytes_per_s, peak.source
  FROM peak
  CROSS JOIN (SELECT 'fp16' AS data_type UNION ALL SELECT 'bf16') AS half
  UNION ALL
  SELECT gpu_id, gpu_name, 'fp8', fp8, fp32, bandwidth_bytes_per_s, source
  FROM peak
  UNION ALL
  SELECT gpu_id, gpu_name, 'int8', int8, fp32, bandwidth_bytes_per_s, source
  FROM peak
)
SELECT
  gpu_id,
  gpu_name,
  data_type,
  matmul AS matmul_flop_per_s,
  vector AS vector_flop_per_s,
  bandwidth_bytes_per_s,
  source
FROM typed
