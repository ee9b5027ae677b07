/*---
name: decompression
summary: One row per run of the GPU's decompression engine.
present_if: [src_cuda_decompress]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid}
reads: [src_cuda_decompress]
columns:
  - {name: decompression_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: source_bytes, type: bytes, unit: bytes, doc: "Compressed bytes that were read."}
  - {name: buffer_count, type: int, unit: count, doc: "Buffers that were decompressed."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: channel_id, type: id, doc: "Channel of the decompression engine."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
limits: >-
  The raw table is known from NVIDIA's documentation of nsys 2026.4, and was not seen in a real report. Other relations of
  GPU work, such as gpu_busy, do not have these operations: they run on an engine of their own.
---*/
SELECT
  row_id AS decompression_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  sourceBytes AS source_bytes,
  NumberOfOperations AS buffer_count,
  deviceId AS device_id,
  contextId AS context_id,
  streamId AS stream_id,
  ChannelID AS channel_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_decompress
