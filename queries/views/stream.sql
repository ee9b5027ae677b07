/*---
name: stream
summary: One row per CUDA stream created during the capture.
present_if: [src_cuda_stream]
scope: {stream: stream_id, process: pid}
reads: [all_nvtx_stream, src_cuda_stream, src_enum_stream_type]
columns:
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: priority, type: int, doc: "Priority; streams with a smaller number run first."}
  - {name: stream_kind, type: text, doc: "Kind of stream: Default, Non-blocking or Null; null if unknown."}
  - {name: stream_name, type: text, doc: "Name that the program gave the stream; null if it gave none."}
---*/
SELECT
  streamId AS stream_id,
  contextId AS context_id,
  processId AS pid,
  priority,
  (SELECT label FROM src_enum_stream_type WHERE id = flag) AS stream_kind,
  (
    SELECT named.stream_name
    FROM all_nvtx_stream AS named
    WHERE named.stream_id = src_cuda_stream.streamId
      AND named.context_id = src_cuda_stream.contextId
      AND named.pid = src_cuda_stream.processId
  ) AS stream_name
FROM src_cuda_stream
