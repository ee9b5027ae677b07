/*---
name: failed_call
summary: One row per call of the CUDA runtime or driver API that returned an error.
present_if: [src_cuda_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [all_cuda_call]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: return_value, type: int, doc: "Return value: a cudaError_t of the runtime or a CUresult of the driver."}
  - {name: name_id, type: id, doc: "ID of the function's name, an ID in the relation string."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  600 (not ready) is the answer of cudaEventQuery and similar calls while work is pending, and no failure. So is 34 from
  a Query call of CUDA before 10.1. A trace without return values has no rows.
---*/
SELECT call_id, start_ns, end_ns, return_value, name_id, pid, tid, global_pid, global_tid
FROM all_cuda_call
WHERE return_value NOT IN (0, 600)
  AND NOT (return_value = 34 AND api_symbol GLOB '*Query*')
