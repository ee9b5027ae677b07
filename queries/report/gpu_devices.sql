/*---
name: gpu_devices
version: 1
title: GPUs and the devices of processes
summary: Each GPU that a process sees, with its number and its CUDA device ordinal.
why: To know which GPU a device ordinal means, because each process may number GPUs in another way.
kind: info
tags: [capture, cuda, gpu]
reads: [device, gpu, process_device]
requires: []
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the physical GPU or MIG instance, which --gpu takes; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within the process, which --device takes."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null for a GPU that no process used, or if unknown."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 1, doc: "Marketing name, such as NVIDIA H100 80GB HBM3; null if unknown."}
  - {name: bus_location, type: text, label: "PCI address", priority: 2, doc: "PCI address; null if unknown."}
  - {name: is_used, type: bool, label: "used", priority: 1, doc: "Whether the process ran work on it."}
checks:
  - is_used IN (0, 1)
when_empty: "the report has no GPU work, and no list of GPUs"
limits: Scope options leave out nothing here. GPUs of several machines have the same numbers.
see_also: [scope_ids, report_info, ranks]
---*/
WITH
seen AS (
  SELECT gpu_id, device_id, pid, 1 AS is_used
  FROM process_device
  UNION ALL
  -- Old exports have one list for all processes, others one for each.
  SELECT gpu_id, device_id, NULL, 0
  FROM device
  WHERE gpu_id IS NOT NULL
    AND NOT EXISTS (
      SELECT 1
      FROM process_device AS used
      WHERE used.gpu_id = device.gpu_id
        AND used.device_id = device.device_id
    )
)
SELECT
  seen.gpu_id,
  seen.device_id,
  seen.pid,
  max(gpu.gpu_name) AS gpu_name,
  max(gpu.bus_location) AS bus_location,
  max(seen.is_used) AS is_used
FROM seen
LEFT JOIN gpu
  ON gpu.gpu_id = seen.gpu_id
GROUP BY seen.gpu_id, seen.device_id, seen.pid
ORDER BY seen.gpu_id, seen.device_id, seen.pid
