/*---
name: um_cpu_page_fault
summary: One row per CPU page fault on unified memory.
present_if: [src_cuda_um_cpu_page_fault]
scope: {time: [start_ns, start_ns], process: pid}
reads: [src_cuda_um_cpu_page_fault, src_string_id]
columns:
  - {name: fault_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Time of the fault, on the report's clock."}
  - {name: address, type: id, doc: "Address of the access."}
  - {name: instruction, type: text, doc: "Function that accessed the address; null if it could not be resolved."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS fault_id,
  start AS start_ns,
  address,
  (SELECT value FROM src_string_id WHERE id = CpuInstruction) AS instruction,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_um_cpu_page_fault
