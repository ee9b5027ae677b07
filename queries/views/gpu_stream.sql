/*---
name: gpu_stream
summary: One row per stream that ran operations, with the sum of their durations.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: op_count, type: int, unit: count, doc: "Operations; 0 if none of the stream is in the scope."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Sum of the durations of its compute kernels."}
  - {name: communication_ns, type: duration, unit: ns, doc: "Sum of the durations of its communication kernels."}
  - {name: memory_ns, type: duration, unit: ns, doc: "Sum of the durations of its copies and fills."}
limits: >-
  Operations that run together count fully each, so the sums can exceed the time in which the stream was busy; gpu_busy has that time.
---*/
