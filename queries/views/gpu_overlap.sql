/*---
name: gpu_overlap
summary: One row per GPU operation, with how long other things ran on its GPU meanwhile.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: op_kind, type: text, doc: "kernel, memcpy, memset, or graph for a CUDA graph that was traced as a whole."}
  - {name: op_id, type: id, doc: "Row of the raw table that op_kind names."}
  - {name: op_name, type: text, doc: "Name as in the relation gpu_op; [CUDA graph] for a whole graph."}
  - {name: name_id, type: id, doc: "Stands for op_name in this relation alone: cheaper to group by."}
  - {name: activity, type: text, doc: "compute, communication or memory."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Operation began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Operation ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: in_window_ns, type: duration, unit: ns, doc: "As much of it as lies in the window that is looked at; the columns below count that part alone."}
  - {name: compute_ns, type: duration, unit: ns, doc: "A kernel that computes ran: all of it, if it is one itself."}
  - {name: communication_ns, type: duration, unit: ns, doc: "A communication kernel ran: all of it, if it is one itself."}
  - {name: memory_ns, type: duration, unit: ns, doc: "A copy or fill ran: all of it, if it is one itself."}
  - {name: exposed_ns, type: duration, unit: ns, doc: "Nothing of a higher rank ran; compute ranks before communication, and that before memory."}
  - {name: concurrent_ns, type: duration, unit: ns, doc: "Another operation ran on the GPU, of any kind, on any stream."}
limits: >-
  Operations of one activity that run together are exposed together: their exposed_ns adds up to more than the time in
  which the GPU did nothing else (gpu_window has that). Only operations in the scope count.
---*/
