/*---
name: gpu_busy
summary: One row per time in which a stream, a process on a GPU, or a GPU was busy throughout.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: level, type: text, doc: "What is busy: stream, process (on one GPU) or gpu. Ask for one, or they add up."}
  - {name: activity, type: text, doc: "What it is busy with: any, compute, communication or memory. Ask for one."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process; of the first process that uses the GPU on level gpu."}
  - {name: pid, type: id, doc: "Operating system's process id; null on level gpu."}
  - {name: context_id, type: id, doc: "CUDA context; null above level stream."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context; null above level stream."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Began, on the report's clock; not before the window that is looked at."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Ended; not after that window."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; 0 for an operation that took no time and stands alone."}
  - {name: op_count, type: int, unit: count, doc: "Operations that ran in it, those that reach over the window's ends included."}
limits: >-
  compute is every kernel that is not communication, and a CUDA graph that was traced as a whole; communication is NCCL
  and its like, by the kernel's own name; memory is copies and fills. The window is what --time or --window names, else
  everything.
---*/
