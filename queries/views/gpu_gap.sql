/*---
name: gpu_gap
summary: One row per time in which a stream, a process on a GPU, or a GPU ran nothing, with the operations around it.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: level, type: text, doc: "What was idle: stream, process (on one GPU) or gpu. Ask for one, or they add up."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process; of the first process that uses the GPU on level gpu."}
  - {name: pid, type: id, doc: "Operating system's process id; null on level gpu."}
  - {name: context_id, type: id, doc: "CUDA context; null above level stream."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context; null above level stream."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always above 0."}
  - {name: before_kind, type: text, doc: "Operation that ended last before it: kernel, memcpy, memset or graph; null at the window's start."}
  - {name: before_id, type: id, doc: "Its row in the raw table of that kind; null at the window's start."}
  - {name: before_name, type: text, doc: "Its name, as in the relation gpu_op; null at the window's start."}
  - {name: after_kind, type: text, doc: "Operation that began after it; null at the window's end."}
  - {name: after_id, type: id, doc: "Its row in the raw table of that kind; null at the window's end."}
  - {name: after_name, type: text, doc: "Its name, as in the relation gpu_op; null at the window's end."}
limits: >-
  Without --time or --window the time before the first operation and after the last is no gap. An operation that took
  no time ends a gap and begins another. Of operations that end together, before is the one that began last.
---*/
