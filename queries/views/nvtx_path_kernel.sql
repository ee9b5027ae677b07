/*---
name: nvtx_path_kernel
summary: One row per path of NVTX range names and kernel launched directly under it.
native: true
present_if: [src_cuda_kernel]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: path_id, type: id, doc: "Path of the innermost range around the launch: the relation nvtx_path; null if there is none."}
  - {name: unattributed, type: text, doc: "Why there is no range: no API row, no open range, other thread; null if there is one."}
  - {name: name_id, type: id, doc: "Demangled name of the kernel, of the relation string."}
  - {name: short_name_id, type: id, doc: "Its short name."}
  - {name: mangled_name_id, type: id, doc: "Its mangled name; the demangled one where the export has none."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
limits: >-
  Every kernel is in exactly one row, so that the rows add up to the whole. Kernels of a CUDA graph that was traced as
  a whole are not in it.
---*/
