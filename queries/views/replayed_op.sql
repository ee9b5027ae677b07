/*---
name: replayed_op
summary: One row per GPU operation, with its times after edits of the capture.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_cuda_sync, all_event_record, all_graph_trace, all_kernel, all_memcpy, all_memset, all_nvtx_record, all_stream, device, string]
columns:
  - {name: edits, type: text, doc: "Compare it with edits, one a line, such as faster=gemm*:2. See what_if."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset or graph."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation in the capture, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation in the capture."}
  - {name: new_start_ns, type: timestamp, unit: ns, doc: "Start after the edits. Without edits, start_ns."}
  - {name: new_end_ns, type: timestamp, unit: ns, doc: "End after the edits. Without edits, end_ns."}
limits: See critical_part.
---*/
