/*---
name: nvtx_path
summary: One row per path of NVTX range names, with the GPU work launched below it.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: path_id, type: id, doc: "Number of the path in this report."}
  - {name: parent_path_id, type: id, doc: "The path without its last name; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Names in the path, less one."}
  - {name: path, type: text, doc: "Names from the outermost in, with numbers folded to *, joined by slashes in blanks."}
  - {name: layer_name, type: text, doc: "Last name of the path, folded; (unnamed) for an empty one."}
  - {name: range_count, type: int, unit: count, doc: "Ranges that have this path."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of their lengths on the CPU."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside them, those of ranges within included."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of the operations, whatever the device."}
  - {name: self_op_count, type: int, unit: count, doc: "Operations launched in one of the ranges and in no range within."}
  - {name: self_launch_count, type: int, unit: count, doc: "API calls that launched those."}
  - {name: self_gpu_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: self_busy_ns, type: duration, unit: ns, doc: "Length of their union, whatever the device."}
limits: >-
  Names are folded by the rules of queries/names/layers.yml, so that the ranges of all iterations share a path; --fold
  none keeps every name. An operation inside two ranges of one path, one within the other, counts once.
---*/
