/*---
name: nvtx_range_kernel
summary: One row per thread, NVTX range name and kernel, with the executions inside.
native: true
present_if: [src_cuda_kernel]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: naming, type: text, doc: "Which name of a kernel makes a group: demangled, short or mangled. Ask for one: there is a set of rows for each."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: range_name_id, type: id, doc: "Distinct name of the range: the relation nvtx_name; null for kernels launched outside any range."}
  - {name: range_name, type: text, doc: "Name of the ranges, behind its domain and a colon outside the default domain; null if empty or without a range."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd; null for kernels launched outside any range."}
  - {name: kernel_name_id, type: id, doc: "Name of the kernel, of the relation string."}
  - {name: kernel_name, type: text, doc: "That name."}
  - {name: range_count, type: int, unit: count, doc: "Ranges of this name in which the kernel was launched; 0 for kernels launched outside any range."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; an execution inside two ranges of this name, one within the other, counts for both."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean of the times that total_ns adds up."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median of those times; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of those times; 0 for one."}
limits: >-
  A kernel counts for every range around its launch, so rows of nested ranges must not be added up. Kernels of a CUDA
  graph that was traced as a whole are not in it.
---*/
