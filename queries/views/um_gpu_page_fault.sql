/*---
name: um_gpu_page_fault
summary: One row per group of GPU page faults on unified memory.
present_if: [src_cuda_um_gpu_page_fault]
scope: {time: [start_ns, end_ns], device: device_id, process: pid}
reads: [src_cuda_um_gpu_page_fault, src_enum_um_access_type]
columns:
  - {name: fault_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the handling of the group, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the handling of the group."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: address, type: id, doc: "First address of the pages."}
  - {name: faults, type: int, unit: count, doc: "Faults in the group."}
  - {name: access_kind, type: text, doc: "Read, write, atomic or prefetch; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS fault_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  address,
  numberOfPageFaults AS faults,
  (SELECT label FROM src_enum_um_access_type WHERE id = faultAccessType) AS access_kind,
  deviceId AS device_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_um_gpu_page_fault
