/*---
name: doubtful_op
summary: One row per GPU operation whose times contradict those of its launch or of its stream.
native: true
present_if: [gpu_op]
reads: [all_cuda_call, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_name, type: text, doc: "Name as in gpu_op."}
  - {name: reason, type: text, doc: "The contradiction: starts before its launch, or overlaps its stream."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: other_start_ns, type: timestamp, unit: ns, doc: "The start that contradicts it: of its launching call, or of the third later kernel within it."}
limits: >-
  `starts before its launch`: the call with its correlation ID began after it. `overlaps its stream`: at least three of
  the next 64 kernels of its stream, launched by other calls, began before it ended. Programmatic dependent launch lets
  one kernel begin early, not three, and the branches of one CUDA graph are one call. These operations count in all
  figures, because it is unknown which of the times is wrong. suspect_event has those that do not count.
---*/
