/*---
name: gpu_gap
summary: One row per gap in which a stream, a process on a GPU, or a GPU ran nothing, with the operations around it.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: level, type: text, doc: "What was idle: stream, process (on one GPU) or gpu. Filter by one level; otherwise the same time is counted once per level."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; at level gpu, within the first process that uses the GPU."}
  - {name: pid, type: id, doc: "Operating system process ID; null at level gpu."}
  - {name: context_id, type: id, doc: "CUDA context; null at levels process and gpu."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context; null at levels process and gpu."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the gap, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the gap."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always greater than 0."}
  - {name: before_kind, type: text, doc: "Kind of the last operation to end before the gap: kernel, memcpy, memset or graph; null at the start of the window."}
  - {name: before_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the start of the window."}
  - {name: before_name, type: text, doc: "Name of that operation, as in gpu_op; null at the start of the window."}
  - {name: before_ns, type: duration, unit: ns, doc: "Length of that operation; null at the start of the window."}
  - {name: after_kind, type: text, doc: "Kind of the operation that starts at the end of the gap; null at the end of the window."}
  - {name: after_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the end of the window."}
  - {name: after_name, type: text, doc: "Name of that operation, as in gpu_op; null at the end of the window."}
  - {name: after_ns, type: duration, unit: ns, doc: "Length of that operation; null at the end of the window."}
  - {name: is_in_stream, type: bool, doc: "Whether both operations ran on one stream; null at the start and end of the window."}
limits: >-
  Without --time or --window, the time before the first and after the last operation is not a gap. An operation of zero
  length ends one gap and starts another. If several operations end together, `before` is the one that started last.
---*/
