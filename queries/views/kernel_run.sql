/*---
name: kernel_run
summary: One row per gap between two short kernels of a stream, with the run of kernels that it is in.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: longest_ns, type: duration, unit: ns, doc: "Compare it with a duration: both kernels are shorter. Without this comparison there are no rows."}
  - {name: below_ns, type: duration, unit: ns, doc: "Compare it with a duration: the gap is shorter. Without this comparison there are no rows."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Length of the gap, in which the whole GPU was idle."}
  - {name: run, type: id, doc: "Number of the run, from 0."}
  - {name: run_kernels, type: int, unit: count, doc: "Kernels of the run: one more than its gaps."}
  - {name: before_id, type: id, doc: "Row ID of the kernel before the gap in the raw table."}
  - {name: before_ns, type: duration, unit: ns, doc: "Duration of that kernel."}
  - {name: before_name_id, type: id, doc: "String ID of its name; null if the export gives none."}
  - {name: after_id, type: id, doc: "Row ID of the kernel after the gap in the raw table."}
  - {name: after_name_id, type: id, doc: "String ID of its name; null if the export gives none."}
limits: >-
  A gap continues the run of the gap before if the kernel between them is the same: no other work of the GPU came between. The rows come in order of GPU
  and time.
---*/
