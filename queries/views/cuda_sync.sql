/*---
name: cuda_sync
summary: One row per wait for a stream, an event or a context, as the CUDA driver recorded it.
present_if: [src_cuda_sync]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid}
reads: [scope, src_cuda_sync]
columns:
  - {name: sync_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the wait, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the wait."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: sync_kind, type: text, doc: "Kind of wait: stream, event, stream waits for event, or context."}
  - {name: event_id, type: id, doc: "CUDA event that is waited for; null if the wait names no event."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
limits: >-
  sync_kind comes from which IDs the wait names, stream or event, because the codes in syncType differ between export
  versions. stream_id is null if the wait names no stream.
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
WHERE
  (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0)
  )
  OR (SELECT as_recorded FROM scope)
