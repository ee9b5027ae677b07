/*---
name: suspect_event
summary: One row per event whose times cannot be true, which all other relations leave out.
stored: true
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset, src_cuda_graph_trace, src_cuda_sync, src_cuda_api, src_nvtx_event]
scope: {device: device_id, stream: stream_id, process: pid}
reads:
  - src_cuda_api
  - src_cuda_graph_trace
  - src_cuda_kernel
  - src_cuda_memcpy
  - src_cuda_memset
  - src_cuda_sync
  - src_nvtx_event
  - src_string_id
columns:
  - {name: event_kind, type: text, doc: "Kind of event: kernel, memcpy, memset, graph, sync, call or range."}
  - {name: row_id, type: id, doc: "Row ID in the raw table of this event_kind."}
  - {name: reason, type: text, doc: "What is wrong: no times, no end, ends before it starts, or too long."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start as recorded."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End as recorded; null if there is none."}
  - {name: event_name, type: text, doc: "Name of the kernel, call or range; null for other events."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; null for a call or a range."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context; null for a call or a range."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call; null for a range."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
limits: >-
  `no times` is one time for start and end, 0 or before: CUPTI writes 0 for both if it could not collect the times. A range
  may begin and end so. `too long` is an event of more than 11 days, or a time more than 126 years from the start of the capture. A range
  without an end is open, and not a row here. Only what one event alone shows is a row. Queries with the name of an
  NVIDIA report see these events, because NVIDIA's report does.
---*/
WITH
event AS (
  SELECT
    'kernel' AS event_kind,
    row_id,
    start,
    "end",
    demangledName AS name_id,
    NULL AS text,
    deviceId AS device_id,
    streamId AS stream_id,
    correlationId AS correlation_id,
    globalPid AS global_id
  FROM src_cuda_kernel
  UNION ALL
  SELECT 'memcpy', row_id, start, "end", NULL, NULL, deviceId, streamId, correlationId, globalPid
  FROM src_cuda_memcpy
  UNION ALL
  SELECT 'memset', row_id, start, "end", NULL, NULL, deviceId, streamId, correlationId, globalPid
  FROM src_cuda_memset
  UNION ALL
  SELECT 'graph', row_id, start, "end", NULL, NULL, deviceId, streamId, correlationId, globalPid
  FROM src_cuda_graph_trace
  UNION ALL
  SELECT 'sync', row_id, start, "end", NULL, NULL, deviceId, streamId, correlationId, globalPid
  FROM src_cuda_sync
  UNION ALL
  SELECT 'call', row_id, start, "end", nameId, NULL, NULL, NULL, correlationId, globalTid
  FROM src_cuda_api
  UNION ALL
  SELECT 'range', row_id, start, "end", textId, text, NULL, NULL, NULL, globalTid
  FROM src_nvtx_event
  WHERE eventType IN (59, 60, 70, 71)
)
SELECT
  event_kind,
  row_id,
  CASE
    WHEN "end" IS NULL THEN 'no end'
    WHEN "end" = start AND start BETWEEN -4000000000000000000 AND 0 THEN 'no times'
    WHEN "end" < start THEN 'ends before it starts'
    ELSE 'too long'
  END AS reason,
  start AS start_ns,
  "end" AS end_ns,
  coalesce((SELECT value FROM src_string_id WHERE id = name_id), text) AS event_name,
  device_id,
  stream_id,
  correlation_id,
  global_id >> 24 & 16777215 AS pid,
  global_id & -16777216 AS global_pid
FROM event
WHERE (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0 OR event_kind = 'range')
  ) IS NOT TRUE
  AND ("end" IS NOT NULL OR event_kind <> 'range' OR start NOT BETWEEN -4000000000000000000 AND 4000000000000000000)
