/*---
name: nvtx_op
summary: One row per GPU operation, with the innermost NVTX range around its launch.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call; null if there is none."}
  - {name: call_id, type: id, doc: "Launching API call in cuda_call; null if the capture did not record it."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of the launching call; null without a call."}
  - {name: call_end_ns, type: timestamp, unit: ns, doc: "End of the launching call; null without a call."}
  - {name: tid, type: id, doc: "Operating system ID of the launching thread; null without a call."}
  - {name: global_tid, type: id, doc: "Launching thread, unique across hosts and VMs; null without a call."}
  - {name: range_id, type: id, doc: "Innermost range around the launching call; null if there is none."}
  - {name: name_id, type: id, doc: "Name of that range, an ID in nvtx_name; null without a range."}
  - {name: range_text, type: text, doc: "Message of that range without its domain; null if empty or without a range."}
  - {name: path_id, type: id, doc: "Path of that range, an ID in nvtx_path; null without a range."}
  - {name: unattributed, type: text, doc: "Why the operation is in no range: no API row, no open range, other thread or graph-level trace; null if it is in one."}
limits: >-
  The innermost range is the range on the launching thread that contains the whole launching call and started last. With
  --attribute process, if the launching thread has no such range, ranges of the other threads of its process count.
  Reasons in unattributed: 'other thread' means that no range was open on the launching thread, but one was open on
  another thread of the process; 'graph-level trace' means a CUDA graph traced as a whole that is in no range.
---*/
