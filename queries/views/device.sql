/*---
name: device
summary: One row per CUDA device ordinal of a process, with its GPU.
present_if: [src_cuda_device, src_target_gpu, src_target_cuda_gpu]
reads: [cuda_gpu]
columns:
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, doc: "Operating system process ID; null if the export has one device list for all processes."}
  - {name: gpu_id, type: id, doc: "Number of the physical GPU or MIG instance, as in cuda_gpu; null if unknown, or if several GPUs have this ordinal."}
limits: Before schema 3.17, the export has one device list for all processes, made without CUDA_VISIBLE_DEVICES.
---*/
SELECT
  device_id,
  pid,
  CASE WHEN count(DISTINCT gpu_id) = 1 THEN min(gpu_id) END AS gpu_id
FROM cuda_gpu
WHERE device_id IS NOT NULL
GROUP BY device_id, pid
