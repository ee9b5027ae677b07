/*---
name: gpu
summary: One row per GPU of the machine.
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: [src_target_gpu, src_target_cuda_gpu]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine."}
  - {name: gpu_name, type: text, doc: "Marketing name, such as NVIDIA H100 80GB HBM3."}
  - {name: bus_location, type: text, doc: "PCI address; null if unknown."}
  - {name: uuid, type: text, doc: "Unique identifier that NVIDIA gave the GPU; null before schema 3.0."}
  - {name: memory_bytes, type: bytes, unit: bytes, doc: "Size of the device memory; null if unknown."}
  - {name: peak_bandwidth_bytes_per_s, type: real, unit: bytes_per_s, doc: "Peak bandwidth of the device memory; null if unknown."}
  - {name: sm_count, type: int, unit: count, doc: "Number of streaming multiprocessors (SMs); null if unknown."}
  - {name: compute_capability, type: text, doc: "CUDA compute capability, such as 9.0; null if unknown."}
  - {name: sm_warps, type: int, unit: count, doc: "Maximum number of resident warps per SM; null if unknown."}
  - {name: sm_blocks, type: int, unit: count, doc: "Maximum number of resident blocks per SM; null if unknown."}
  - {name: sm_registers, type: int, unit: count, doc: "32-bit registers per SM; null if unknown."}
  - {name: sm_shared_bytes, type: bytes, unit: bytes, doc: "Shared memory per SM; null if unknown."}
---*/
SELECT
  id AS gpu_id,
  name AS gpu_name,
  busLocation AS bus_location,
  uuid,
  totalMemory AS memory_bytes,
  memoryBandwidth AS peak_bandwidth_bytes_per_s,
  smCount AS sm_count,
  computeMajor || '.' || computeMinor AS compute_capability,
  maxWarpsPerSm AS sm_warps,
  maxBlocksPerSm AS sm_blocks,
  maxRegistersPerSm AS sm_registers,
  maxShmemPerSm AS sm_shared_bytes
FROM src_target_gpu
UNION ALL
SELECT
  deviceId AS gpu_id,
  min(name) AS gpu_name,
  min(pciBusId) AS bus_location,
  NULL AS uuid,
  min(globalMemorySize) AS memory_bytes,
  min(globalMemoryBandwidth) AS peak_bandwidth_bytes_per_s,
  min(numMultiprocessors) AS sm_count,
  min(computeCapabilityMajor || '.' || computeCapabilityMinor) AS compute_capability,
  min(maxWarpsPerMultiprocessor) AS sm_warps,
  min(maxBlocksPerMultiprocessor) AS sm_blocks,
  min(maxRegistersPerMultiprocessor) AS sm_registers,
  min(maxSharedMemoryPerMultiprocessor) AS sm_shared_bytes
FROM src_target_cuda_gpu
GROUP BY deviceId
