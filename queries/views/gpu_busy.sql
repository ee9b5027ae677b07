/*---
name: gpu_busy
summary: One row per interval in which a stream, a process on a GPU, or a GPU was continuously busy.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: level, type: text, doc: "What was busy: stream, process (on one GPU) or gpu. Filter by one level; otherwise the same time is counted once per level."}
  - {name: activity, type: text, doc: "Kind of work: any, compute, communication or memory. Filter by one."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; at level gpu, within the first process that uses the GPU."}
  - {name: pid, type: id, doc: "Operating system process ID; null at level gpu."}
  - {name: context_id, type: id, doc: "CUDA context; null at levels process and gpu."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context; null at levels process and gpu."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the busy time, on the report's clock, cut to the window."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the busy time, cut to the window."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; 0 for an isolated operation of zero length."}
  - {name: op_count, type: int, unit: count, doc: "Operations that ran in this time, including those that extend beyond the window."}
limits: >-
  compute is every kernel that is not communication, and every CUDA graph traced as a whole. communication is NCCL and
  similar libraries, recognized by kernel name. memory is copies and fills. The window is what --time or --window
  selects, or the whole capture.
---*/
