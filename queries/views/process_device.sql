/*---
name: process_device
summary: One row per device that a process worked on, with the GPU behind it.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset, src_cuda_graph_trace]
reads: [all_gpu_op, all_graph_trace, device]
columns:
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; null if the export does not say."}
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not say."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
limits: GPUs of different machines in one report have the same numbers.
---*/
SELECT
  used.global_pid,
  used.pid,
  used.device_id,
  coalesce(
    (SELECT max(device.gpu_id) FROM device WHERE device.device_id = used.device_id AND device.pid = used.pid),
    (SELECT max(device.gpu_id) FROM device WHERE device.device_id = used.device_id AND device.pid IS NULL),
    used.device_id
  ) AS gpu_id
FROM (
  SELECT global_pid, pid, device_id
  FROM all_gpu_op
  UNION
  SELECT global_pid, pid, device_id
  FROM all_graph_trace
) AS used
