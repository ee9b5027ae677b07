/*---
name: nvtx_projection
summary: One row per NVTX range, with the GPU work launched inside it.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table; NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range on the CPU. A range that never ended lasts until the last range or CUDA call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_kind, type: text, doc: "Kind of range: PushPop or StartEnd."}
  - {name: name_id, type: id, doc: "Name of the range, an ID in nvtx_name."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: path_id, type: id, doc: "Path of names down to the range, an ID in nvtx_path."}
  - {name: parent_id, type: id, doc: "range_id of the shortest range of the same thread that contains this one; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above this one, following parent_id."}
  - {name: range_stack, type: text, doc: "range_ids from the top down to this range, each with the prefix ':'."}
  - {name: child_count, type: int, unit: count, doc: "Direct children of the range that launched GPU work."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the range, including nested ranges."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched these operations. A graph launch counts once; with --attribute capture each of its nodes counts."}
  - {name: graph_count, type: int, unit: count, doc: "Operations of op_count that are CUDA graphs traced as a whole. Their kernels are not recorded."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of the operations; 0 without GPU work."}
  - {name: self_op_count, type: int, unit: count, doc: "Operations launched directly in the range, not in a nested range."}
  - {name: self_launch_count, type: int, unit: count, doc: "API calls that launched the operations of self_op_count."}
  - {name: self_gpu_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "Start of the first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "End of the last operation on the GPU; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of its operations ran, on any device; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  An operation belongs to the ranges on the launching thread that contain the whole launching call; with --attribute
  process, to such ranges on any thread of the process. Ranges that another thread ended count only with --attribute
  process. Ranges that overlap without nesting each get what they contain. Each CUDA graph traced as a whole
  (graph_trace) counts as one operation.
---*/
