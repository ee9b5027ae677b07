/*---
name: call_without_work
summary: One row per CUDA API call that shares its correlation ID with no kernel, copy or fill.
native: true
internal: true
present_if: [cuda_call]
reads: [all_cuda_call, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: name_id, type: id, doc: "ID of api_symbol."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the call; 0 if there is none."}
  - {name: call_count, type: int, unit: count, doc: "Calls of the same function by the same thread, with and without work."}
  - {name: last_work_ns, type: timestamp, unit: ns, doc: "Start of the last call of the process that launched an operation; null if none did."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Most calls launch nothing: look up those of one function by name_id. A call whose operation has impossible times, or
  is a CUDA graph traced as a whole, has a row. A driver call inside the runtime call that launched has none.
---*/
