/*---
name: nvtx_path
summary: One row per path of NVTX range names, with the GPU work launched below it.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: path_id, type: id, doc: "ID of the path in this report."}
  - {name: parent_path_id, type: id, doc: "ID of the path without its last name; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Number of names in the path minus 1; 0 at the top."}
  - {name: path, type: text, doc: "Range names from the outermost to the innermost, joined by ' / ', each number replaced by *."}
  - {name: layer_name, type: text, doc: "Last name of the path, each number replaced by *; (unnamed) if empty."}
  - {name: range_count, type: int, unit: count, doc: "Ranges with this path."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of the CPU durations of the ranges."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the ranges, including nested ranges."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched these operations."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of the operations."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of the operations ran, on any device."}
  - {name: self_op_count, type: int, unit: count, doc: "Operations launched directly in the ranges, not in a nested range."}
  - {name: self_launch_count, type: int, unit: count, doc: "API calls that launched the operations of self_op_count."}
  - {name: self_gpu_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: self_busy_ns, type: duration, unit: ns, doc: "Time in which at least one operation of self_op_count ran, on any device."}
limits: >-
  The rules in queries/names/layers.yml replace numbers in names by *, so that the ranges of all iterations share a
  path. --fold none keeps every name as it is. A path of more than 64 names is shortened to its first and last 32, with
  the number of names between them and eight digits that distinguish these paths. An operation inside two nested ranges of one path counts once.
---*/
