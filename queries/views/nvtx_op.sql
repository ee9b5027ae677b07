/*---
name: nvtx_op
summary: One row per GPU operation, with the innermost NVTX range that it was launched in.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: op_kind, type: text, doc: "kernel, memcpy, memset, or graph for a CUDA graph that was traced as a whole."}
  - {name: op_id, type: id, doc: "Row of the raw table that op_kind names."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Operation began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Operation ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it; null if none did."}
  - {name: call_id, type: id, doc: "Launching call, of the relation cuda_call; null if the capture has no row of it."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Launching call began; null without one."}
  - {name: call_end_ns, type: timestamp, unit: ns, doc: "Launching call returned; null without one."}
  - {name: tid, type: id, doc: "Launching thread; null without a call."}
  - {name: global_tid, type: id, doc: "Launching thread across hosts and VMs; null without a call."}
  - {name: range_id, type: id, doc: "Innermost range around the call; null if there is none."}
  - {name: name_id, type: id, doc: "That range's name: the relation nvtx_name; null without one."}
  - {name: range_text, type: text, doc: "That range's message without its domain; null if empty or without one."}
  - {name: path_id, type: id, doc: "That range's path: the relation nvtx_path; null without one."}
  - {name: unattributed, type: text, doc: "Why there is no range: no API row, no open range, other thread, graph-level trace; null if there is one."}
limits: >-
  Innermost is the range that began last of those that contain the whole launching call, on the launching thread; with
  --attribute process, on any thread of the process where the launching one has none. other thread: no range was open
  on the launching thread, but one on another thread of the process. graph-level trace: a whole graph that no range
  contains.
---*/
