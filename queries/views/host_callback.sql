/*---
name: host_callback
summary: One row per host function that a CUDA stream or graph called.
present_if: [src_cuda_host_callback]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_cuda_host_callback, src_string_id]
columns:
  - {name: callback_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the function, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the function."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Name of the function; null if unknown."}
  - {name: name_id, type: id, doc: "ID of function_name; null if unknown."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the call that launched it; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that ran it."}
  - {name: global_tid, type: id, doc: "That thread, unique across hosts and VMs."}
limits: >-
  The raw table is known from NVIDIA's documentation of nsys 2026.4, and was not seen in a real report. While the function
  runs, its stream waits.
---*/
SELECT
  row_id AS callback_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS function_name,
  nameId AS name_id,
  correlationId AS correlation_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid AS global_tid
FROM src_cuda_host_callback
