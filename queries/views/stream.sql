/*---
name: stream
summary: One row per CUDA stream created during the capture.
present_if: [src_cuda_stream]
scope: {stream: stream_id, process: pid}
reads: [src_cuda_stream, src_enum_stream_type]
columns:
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: priority, type: int, doc: "Priority; streams with a smaller number run first."}
  - {name: stream_kind, type: text, doc: "Kind of stream: Default, Non-blocking or Null; null if unknown."}
---*/
SELECT
  streamId AS stream_id,
  contextId AS context_id,
  processId AS pid,
  priority,
  (SELECT label FROM src_enum_stream_type WHERE id = flag) AS stream_kind
FROM src_cuda_stream
