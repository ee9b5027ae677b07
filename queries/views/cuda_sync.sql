/*---
name: cuda_sync
summary: One row per wait for a stream, an event or a context, as the driver saw it.
present_if: [src_cuda_sync]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid}
reads: [src_cuda_sync]
columns:
  - {name: sync_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Wait began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Wait ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: sync_kind, type: text, doc: "stream, event, stream waits for event, or context."}
  - {name: event_id, type: id, doc: "CUDA event that is waited for; null if none is."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it, unique within a process at best; 0 or null if none did."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; with correlation_id the key to the launching call."}
limits: >-
  The kind is told from which of stream and event is named: the codes in syncType mean different things in different
  export versions. stream_id is null where the wait names no stream.
---*/
SELECT
  row_id AS sync_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  CASE
    WHEN streamId <> 4294967295 AND eventId <> 4294967295 THEN 'stream waits for event'
    WHEN eventId <> 4294967295 THEN 'event'
    WHEN streamId <> 4294967295 THEN 'stream'
    ELSE 'context'
  END AS sync_kind,
  nullif(eventId, 4294967295) AS event_id,
  deviceId AS device_id,
  contextId AS context_id,
  nullif(greenContextId, 0) AS green_context_id,
  nullif(streamId, 4294967295) AS stream_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_sync
