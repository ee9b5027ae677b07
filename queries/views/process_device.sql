/*---
name: process_device
summary: One row per device that a process ran work on, with its GPU.
stored: true
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset, src_cuda_graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device]
columns:
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
limits: If a report covers several machines, their GPUs have the same numbers.
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
  -- DISTINCT first: a UNION would store each operation.
  SELECT *
  FROM (SELECT DISTINCT global_pid, pid, device_id FROM all_kernel)
  UNION
  SELECT *
  FROM (SELECT DISTINCT global_pid, pid, device_id FROM all_memcpy)
  UNION
  SELECT *
  FROM (SELECT DISTINCT global_pid, pid, device_id FROM all_memset)
  UNION
  SELECT *
  FROM (SELECT DISTINCT global_pid, pid, device_id FROM all_graph_trace)
) AS used
