/*---
name: gpu
summary: One row per physical GPU of the machine, or per MIG instance of a GPU.
stored: true
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: [cuda_gpu, src_target_cuda_gpu, src_target_gpu]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU or MIG instance, as in cuda_gpu."}
  - {name: gpu_name, type: text, doc: "Marketing name, such as NVIDIA H100 80GB HBM3."}
  - {name: bus_location, type: text, doc: "PCI address; null if unknown."}
  - {name: uuid, type: text, doc: "Unique identifier that NVIDIA gave the GPU; null before schema 3.0."}
  - {name: memory_bytes, type: bytes, unit: bytes, doc: "Size of the device memory; null if unknown, and for a MIG instance."}
  - {name: peak_bandwidth_bytes_per_s, type: real, unit: bytes_per_s, doc: "Peak bandwidth of the device memory; null if unknown, and for a MIG instance."}
  - {name: is_integrated, type: bool, doc: "Whether the GPU shares memory with the CPU, as the export records it; else by its name, such as Orin, Xavier, Thor or GB10."}
  - {name: sm_count, type: int, unit: count, doc: "Number of streaming multiprocessors (SMs) of the GPU or MIG instance; null if unknown."}
  - {name: compute_capability, type: text, doc: "CUDA compute capability, such as 9.0; null if unknown."}
  - {name: sm_warps, type: int, unit: count, doc: "Maximum number of resident warps per SM; null if unknown."}
  - {name: sm_blocks, type: int, unit: count, doc: "Maximum number of resident blocks per SM; null if unknown."}
  - {name: sm_registers, type: int, unit: count, doc: "32-bit registers per SM; null if unknown."}
  - {name: sm_shared_bytes, type: bytes, unit: bytes, doc: "Shared memory per SM; null if unknown."}
  - {name: peak_clock_hz, type: int, unit: hz, doc: "Highest clock of the SMs; null if unknown, and for exports before 2022.2."}
---*/
WITH
-- What processes see of each GPU or MIG instance.
seen AS (
  SELECT
    gpu_id,
    card_id,
    min(uuid) AS uuid,
    min(sm_count) AS sm_count,
    max(is_partition) AS is_partition
  FROM cuda_gpu
  WHERE gpu_id IS NOT NULL
  GROUP BY gpu_id, card_id
)
SELECT
  coalesce(seen.gpu_id, card.id) AS gpu_id,
  iif(seen.is_partition, name || ' MIG, ' || seen.sm_count || ' SMs', name) AS gpu_name,
  busLocation AS bus_location,
  iif(seen.is_partition, seen.uuid, card.uuid) AS uuid,
  iif(seen.is_partition, NULL, totalMemory) AS memory_bytes,
  iif(seen.is_partition, NULL, memoryBandwidth) AS peak_bandwidth_bytes_per_s,
  coalesce(
    isDiscrete = 0,
    name GLOB '*Orin*' OR name GLOB '*Xavier*' OR name GLOB '*Thor*' OR name GLOB '*GB10' OR name GLOB '*MI300A*',
    0
  ) AS is_integrated,
  iif(seen.is_partition, seen.sm_count, smCount) AS sm_count,
  computeMajor || '.' || computeMinor AS compute_capability,
  maxWarpsPerSm AS sm_warps,
  maxBlocksPerSm AS sm_blocks,
  maxRegistersPerSm AS sm_registers,
  maxShmemPerSm AS sm_shared_bytes,
  nullif(clockRate, 0) AS peak_clock_hz
FROM src_target_gpu AS card
LEFT JOIN seen
  ON seen.card_id = card.id
UNION ALL
SELECT
  device.gpu_id,
  min(name) AS gpu_name,
  min(pciBusId) AS bus_location,
  NULL AS uuid,
  min(globalMemorySize) AS memory_bytes,
  min(globalMemoryBandwidth) AS peak_bandwidth_bytes_per_s,
  min(name) GLOB '*Xavier*' OR min(name) GLOB '*Tegra*' AS is_integrated,
  min(numMultiprocessors) AS sm_count,
  min(computeCapabilityMajor || '.' || computeCapabilityMinor) AS compute_capability,
  min(maxWarpsPerMultiprocessor) AS sm_warps,
  min(maxBlocksPerMultiprocessor) AS sm_blocks,
  min(maxRegistersPerMultiprocessor) AS sm_registers,
  min(maxSharedMemoryPerMultiprocessor) AS sm_shared_bytes,
  NULL AS peak_clock_hz
FROM src_target_cuda_gpu AS old
JOIN cuda_gpu AS device
  ON device.device_id = old.deviceId
  AND coalesce(device.pid, -1) = coalesce(old.pid, -1)
  AND coalesce(device.bus_location, '') = coalesce(old.pciBusId, '')
GROUP BY device.gpu_id
