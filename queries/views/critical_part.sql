/*---
name: critical_part
summary: One row per part of the chain of calls, operations and delays that binds a GPU's work in a window.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_cuda_sync, all_event_record, all_graph_trace, all_kernel, all_memcpy, all_memset, all_nvtx_record, all_stream, device, string]
columns:
  - {name: edits, type: text, doc: "Compare it with edits, one a line, such as faster=gemm*:2; empty for the capture as it is. See what_if."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers. Compare it with a GPU."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the window in the capture. Compare it with a time."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the window in the capture. Compare it with a time."}
  - {name: place, type: int, doc: "Place in the chain, from 0, in order of time."}
  - {name: part, type: text, doc: "host code, launch call, allocation call, other call, launch latency, stream gap, handover (from an operation of another stream), compute, communication, memory, return from wait, unexplained, before (before the first known event), or after (after the last operation of the window)."}
  - {name: part_start_ns, type: timestamp, unit: ns, doc: "Start of the part after the edits, on the report's clock."}
  - {name: part_end_ns, type: timestamp, unit: ns, doc: "End of the part."}
  - {name: dur_ns, type: duration, unit: ns, doc: "part_end_ns - part_start_ns. The parts add up to the window after the edits."}
  - {name: op_kind, type: text, doc: "Kind of the operation that the part is, or leads to: kernel, memcpy, memset or graph. For a part of the host, the next one that its thread launches. Null if there is none."}
  - {name: op_id, type: id, doc: "Row ID of that operation in the raw table of its kind."}
  - {name: name_id, type: int, doc: "Number of its name; faster to group by than the text."}
  - {name: op_name, type: text, doc: "Its name."}
  - {name: pid, type: id, doc: "Its process."}
  - {name: stream_id, type: id, doc: "Its CUDA stream."}
  - {name: call_id, type: id, doc: "The call that the part is in, or that host code comes before; null for parts of the GPU."}
  - {name: call_name_id, type: id, doc: "String ID of the call's function."}
  - {name: global_tid, type: id, doc: "Thread of the call, unique across hosts and VMs."}
limits: >-
  Without conditions on edits, gpu_id, start_ns and end_ns, the window of a GPU is from its first to its last operation. The
  scope does not apply: what binds may be anywhere. A loop of cudaEventQuery or cudaStreamQuery is one call, which waits. Waits whose stream or event was not
  recorded count for the stream that ended last. Members of a collective are matched by name and order on the GPUs of one report.
---*/
