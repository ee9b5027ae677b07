/*---
name: exposed_part
summary: One row per part of a copy, fill or collective in which no work of a higher priority ran.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: activity, type: text, doc: "Kind of work: communication or memory. Filter by one."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_id, type: id, doc: "Row ID of the operation in the raw table of its kind."}
  - {name: op_name, type: text, doc: "Name of the operation, as in gpu_op."}
  - {name: name_id, type: id, doc: "ID of the operation's name, as in gpu_overlap."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the part, on the report's clock, cut to the window."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the part, cut to the window."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always greater than 0."}
  - {name: pid, type: id, doc: "Operating system process ID of the operation."}
  - {name: context_id, type: id, doc: "CUDA context of the operation."}
  - {name: stream_id, type: id, doc: "CUDA stream ID of the operation, unique within its context."}
  - {name: late_ns, type: duration, unit: ns, doc: "Time in which the thread that launched the next compute kernel had not launched it, and did not wait for the GPU: even without this operation, the kernel would have come late."}
limits: >-
  Compute has priority over communication, communication over copies and fills. A part of a copy or fill is time without any kernel; a
  part of a collective is time without compute. The parts of one activity never overlap on a GPU: if two of its operations
  run together, the time counts for the one that started first.
---*/
