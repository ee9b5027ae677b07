/*---
name: replayed_window
summary: One row per window of a GPU, with its length after edits of the capture.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_cuda_sync, all_event_record, all_graph_trace, all_kernel, all_memcpy, all_memset, all_nvtx_record, all_stream, device, string]
columns:
  - {name: edits, type: text, doc: "Compare it with edits, one a line, as in what_if; empty for the capture as it is. Others are about times, written as gpu_times gives them, after an @: idle=@… removes what GPUs wait for then (host code, calls, delays), work=@… the operations other than collectives, wait=@… the waits of calls, with the copies of those that block. overlap=memcpy@… and without=@… are about operations that run then."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers. Compare it with a GPU."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the window in the capture. Compare it with a time."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the window in the capture. Compare it with a time."}
  - {name: new_dur_ns, type: duration, unit: ns, doc: "Its length after the edits: from the end of what had ended at its start to the end of what had ended at its end."}
  - {name: busiest_ns, type: duration, unit: ns, doc: "What takes longest after the edits of what is done one after the other: the work of a stream, what took turns on the GPU (compute kernels of several streams, and communication or copies that hardly overlapped other work), copies of one direction between host and GPU, or what a thread does to launch work, without waits. What runs ahead makes some windows shorter than this; in the long run, none is."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which the window's operations run after the edits, if what took turns on the GPU still does."}
  - {name: copying_ns, type: duration, unit: ns, doc: "Time of the copies of one direction between host and GPU after the edits, for the direction with more: they share an engine."}
limits: See critical_part. Without conditions on edits, gpu_id, start_ns and end_ns it has no rows.
---*/
