/*---
name: event_record
summary: One row per CUDA event recorded on a stream.
present_if: [src_cuda_event]
scope: {stream: stream_id, process: pid}
reads: [src_cuda_event]
columns:
  - {name: event_id, type: id, doc: "ID of the event, unique within its process. An event may be recorded many times."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the recording API call, unique within its process; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
---*/
SELECT
  eventId AS event_id,
  streamId AS stream_id,
  contextId AS context_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_event
