/*---
name: nvtx_path_kernel
summary: One row per path of NVTX range names and kernel launched directly in it.
native: true
internal: true
present_if: [kernel]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: path_id, type: id, doc: "Path of the innermost range around the launch, an ID in nvtx_path; null if there is none."}
  - {name: unattributed, type: text, doc: "Why the kernel is in no range: no API row, no open range or other thread; null if it is in one."}
  - {name: name_id, type: id, doc: "Demangled kernel name, an ID in the relation string."}
  - {name: short_name_id, type: id, doc: "Short kernel name, an ID in the relation string."}
  - {name: mangled_name_id, type: id, doc: "Mangled kernel name, an ID in the relation string; the demangled name if the export has no mangled one."}
  - {name: calls, type: int, unit: count, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
limits: >-
  Every kernel is in exactly one row, so the rows add up to all kernels. Kernels of a CUDA graph traced as a whole are
  not included.
---*/
