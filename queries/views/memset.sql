/*---
name: memset
summary: One row per memory fill on a GPU.
present_if: [src_cuda_memset]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [memset, memset_id]}
reads: [scope, src_cuda_memset, src_enum_mem_kind]
columns:
  - {name: memset_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the fill, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the fill."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes written."}
  - {name: fill_value, type: int, doc: "Value that the fill writes."}
  - {name: mem_kind, type: id, doc: "CUPTI code of the memory written; 1 is pinned, 4 is managed."}
  - {name: memory, type: text, doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
  - {name: graph_node_id, type: id, doc: "CUDA graph node that ran the operation; null or 0 outside a graph."}
---*/
SELECT
  row_id AS memset_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  bytes AS size_bytes,
  value AS fill_value,
  memKind AS mem_kind,
  (SELECT label FROM src_enum_mem_kind WHERE id = memKind) AS memory,
  deviceId AS device_id,
  contextId AS context_id,
  nullif(greenContextId, 0) AS green_context_id,
  streamId AS stream_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid,
  graphNodeId AS graph_node_id
FROM src_cuda_memset
WHERE
  (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0)
  )
  OR (SELECT as_recorded FROM scope)
