/*---
name: nvtx_range_sum
summary: One row per NVTX range name and kind, with sums over its ranges that launched GPU work.
native: true
internal: true
present_if: [nvtx_range]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: name_id, type: id, doc: "Name of the range, an ID in nvtx_name."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: range_kind, type: text, doc: "Kind of range: PushPop or StartEnd."}
  - {name: range_count, type: int, unit: count, doc: "Number of ranges that launched GPU work."}
  - {name: range_ns, type: duration, unit: ns, doc: "Sum of the CPU durations of the ranges."}
  - {name: proj_ns, type: duration, unit: ns, doc: "Sum of the GPU spans of the ranges. A span goes from the start of the first operation to the end of the last."}
  - {name: proj_median_ns, type: duration, unit: ns, doc: "Median span; the mean of the two middle values if the count is even."}
  - {name: proj_min_ns, type: duration, unit: ns, doc: "Shortest span."}
  - {name: proj_max_ns, type: duration, unit: ns, doc: "Longest span."}
  - {name: proj_stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the spans; 0 for a single range."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the ranges. An operation inside two nested ranges of this name counts twice."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched these operations, summed over the ranges."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of the operations."}
  - {name: depth_sum, type: int, unit: count, doc: "Sum of the depths of the ranges."}
  - {name: child_count, type: int, unit: count, doc: "Direct children that launched GPU work, summed over the ranges."}
limits: >-
  Sums nvtx_projection by name and kind; in SQL this would have to sort every range. Ranges without GPU work are not
  included.
---*/
