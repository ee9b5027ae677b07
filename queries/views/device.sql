/*---
name: device
summary: One row per CUDA ordinal of a process, with the GPU that it stands for.
present_if: [src_cuda_device, src_target_gpu, src_target_cuda_gpu]
reads: [src_cuda_device, src_target_gpu, src_target_cuda_gpu]
columns:
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not tell processes apart."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; null if several claim the ordinal or none is known."}
limits: >-
  Before schema 3.17 the export has one list for all processes, which the profiler saw without CUDA_VISIBLE_DEVICES.
---*/
SELECT
  device_id,
  pid,
  CASE WHEN count(DISTINCT gpu_id) = 1 THEN min(gpu_id) END AS gpu_id
FROM (
  SELECT cudaId AS device_id, pid, gpuId AS gpu_id
  FROM src_cuda_device
  UNION ALL
  SELECT cuDevice AS device_id, NULL AS pid, id AS gpu_id
  FROM src_target_gpu
  WHERE NOT EXISTS (SELECT 1 FROM src_cuda_device)
  UNION ALL
  SELECT deviceId AS device_id, pid, deviceId AS gpu_id
  FROM src_target_cuda_gpu
  WHERE NOT EXISTS (SELECT 1 FROM src_target_gpu)
)
WHERE device_id IS NOT NULL
GROUP BY device_id, pid
