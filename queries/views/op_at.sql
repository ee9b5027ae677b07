/*---
name: op_at
summary: One row per GPU and time, with the operation that runs then, or else the next one.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers. Compare it with a GPU."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Compare it with a time, on the report's clock."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched it; null without a call."}
limits: >-
  The operation is the one that started last at or before the time, if it still runs, else the first that starts later.
  Without conditions on gpu_id and at_ns, and after the last operation, it has no rows.
---*/
