/*---
name: nvtx_stream
summary: One row per CUDA stream that the program named.
present_if: [src_nvtx_cuda_stream]
reads: [src_nvtx_cuda_stream]
columns:
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: stream_name, type: text, doc: "Name from nvtxNameCudaStream, such as ep_a2a; the last one if the program named the stream again."}
limits: Programs rarely name their streams. XLA does.
---*/
SELECT
  pid,
  context_id,
  stream_id,
  stream_name
FROM (
  SELECT
    processId AS pid,
    contextId AS context_id,
    streamId AS stream_id,
    name AS stream_name,
    max(row_id) AS last_row
  FROM src_nvtx_cuda_stream
  WHERE name <> ''
  GROUP BY processId, contextId, streamId
)
