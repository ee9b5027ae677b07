/*---
name: nvtx_range_sum
summary: One row per name of NVTX ranges that launched GPU work, with its sums.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: name_id, type: id, doc: "Distinct name: the relation nvtx_name."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd."}
  - {name: range_count, type: int, unit: count, doc: "Ranges that launched GPU work."}
  - {name: range_ns, type: duration, unit: ns, doc: "Sum of their lengths on the CPU."}
  - {name: proj_ns, type: duration, unit: ns, doc: "Sum of their extents on the GPU, from the first operation's start to the last one's end."}
  - {name: proj_median_ns, type: duration, unit: ns, doc: "Median extent; the mean of the two middle ones for an even count."}
  - {name: proj_min_ns, type: duration, unit: ns, doc: "Shortest extent."}
  - {name: proj_max_ns, type: duration, unit: ns, doc: "Longest extent."}
  - {name: proj_stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the extents; 0 for one."}
  - {name: op_count, type: int, unit: count, doc: "Sum of the operations launched inside; one inside two ranges of the name counts for both."}
  - {name: launch_count, type: int, unit: count, doc: "Sum of the API calls that launched them."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths."}
  - {name: depth_sum, type: int, unit: count, doc: "Sum of the ranges' depths."}
  - {name: child_count, type: int, unit: count, doc: "Sum of the ranges directly below that launched GPU work."}
limits: >-
  The sums of nvtx_projection by name and kind, made where SQL would have to sort every range. Ranges without GPU work
  are not in it.
---*/
