/*---
name: gpu_overlap
summary: One row per GPU operation, with the time that other work ran on its GPU meanwhile.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: op_name, type: text, doc: "Name as in gpu_op; [CUDA graph] for a CUDA graph traced as a whole."}
  - {name: name_id, type: id, doc: "ID of op_name, valid in this relation only; faster to group by than the text."}
  - {name: activity, type: text, doc: "Kind of work: compute, communication or memory."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: in_window_ns, type: duration, unit: ns, doc: "Part of dur_ns inside the window. The columns below cover only this part."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Time in which a compute kernel ran. For a compute kernel this is all of in_window_ns."}
  - {name: communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran. For a communication kernel this is all of in_window_ns."}
  - {name: memory_ns, type: duration, unit: ns, doc: "Time in which a copy or fill ran. For a copy or fill this is all of in_window_ns."}
  - {name: exposed_ns, type: duration, unit: ns, doc: "Time in which no work of a higher priority ran. Compute has priority over communication, communication over copies and fills."}
  - {name: concurrent_ns, type: duration, unit: ns, doc: "Time in which any other operation ran on the same GPU, on any stream."}
limits: >-
  Operations of the same kind of work that run together are all exposed, so their exposed_ns can add up to more than the
  exposed time of the GPU; gpu_window has that time. Only operations in the scope count.
---*/
