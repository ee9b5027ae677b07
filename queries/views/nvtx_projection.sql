/*---
name: nvtx_projection
summary: One row per NVTX range, with the GPU work that was launched inside it.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: range_id, type: id, doc: "Row of the raw table: NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Range ended on the CPU; one that never did ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd."}
  - {name: name_id, type: id, doc: "Distinct name: the relation nvtx_name."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: path_id, type: id, doc: "Path of names that leads to it: the relation nvtx_path."}
  - {name: parent_id, type: id, doc: "Shortest range of the same thread that contains it, as a range_id; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above it, by parent_id."}
  - {name: range_stack, type: text, doc: "The range_ids from the top down to this one, each behind a colon."}
  - {name: child_count, type: int, unit: count, doc: "Ranges whose parent it is and that launched GPU work."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside it, those of ranges within included."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs; with --attribute capture each of its nodes is one."}
  - {name: graph_count, type: int, unit: count, doc: "Those of op_count that are whole CUDA graphs, their kernels hidden."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths; 0 without any."}
  - {name: self_op_count, type: int, unit: count, doc: "Operations launched in it and in no range within."}
  - {name: self_launch_count, type: int, unit: count, doc: "API calls that launched those."}
  - {name: self_gpu_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "First of its operations began on the GPU; null without any."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "Last of its operations ended on the GPU; null without any."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of its operations, whatever the device; null without any."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: >-
  An operation belongs to the ranges that contain the whole launching call, on the launching thread; with --attribute
  process, on any thread of the process. Ranges that another thread ended take part with --attribute process only.
  Ranges that merely overlap each take what they contain. Where the report has whole CUDA graphs (graph_trace), each
  counts as one operation.
---*/
