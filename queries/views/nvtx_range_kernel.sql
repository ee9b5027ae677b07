/*---
name: nvtx_range_kernel
summary: One row per thread, NVTX range name and kernel launched in the range.
native: true
internal: true
present_if: [kernel]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: naming, type: text, doc: "Kernel name to group by: demangled, short or mangled. Filter by one; each has its own set of rows."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: range_name_id, type: id, doc: "Name of the ranges, an ID in nvtx_name; null for kernels launched outside any range."}
  - {name: range_name, type: text, doc: "Name of the ranges, with the prefix DOMAIN: outside the default domain; null if empty or without a range."}
  - {name: range_kind, type: text, doc: "Kind of range: PushPop or StartEnd; null for kernels launched outside any range."}
  - {name: kernel_name_id, type: id, doc: "Kernel name, an ID in the relation string."}
  - {name: kernel_name, type: text, doc: "Kernel name of the kind that naming says."}
  - {name: range_count, type: int, unit: count, doc: "Ranges of this name that launched the kernel; 0 for kernels launched outside any range."}
  - {name: calls, type: int, unit: count, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times. An execution inside two nested ranges of this name counts twice."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean of the times that total_ns sums."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median of those times; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of those times; 0 for a single one."}
limits: >-
  A kernel counts in every range around its launch, so do not add up rows of nested ranges. Kernels of a CUDA graph
  traced as a whole are not included.
---*/
