/*---
name: memcpy
summary: One row per memory copy on a GPU.
present_if: [src_cuda_memcpy]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [memcpy, memcpy_id]}
reads: [scope, src_cuda_memcpy, src_enum_memcpy_oper, src_enum_mem_kind, src_enum_um_migration]
columns:
  - {name: memcpy_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the copy, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the copy."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied."}
  - {name: copy_kind, type: id, doc: "CUPTI code of the direction: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP, 11 to 13 unified memory."}
  - {name: direction, type: text, doc: "Direction, such as Host-to-Device; kind N for an unknown copy_kind N."}
  - {name: src_kind, type: id, doc: "CUPTI code of the source memory; 0 is pageable, 1 is pinned."}
  - {name: dst_kind, type: id, doc: "CUPTI code of the destination memory; 0 is pageable, 1 is pinned."}
  - {name: src_memory, type: text, doc: "Kind of source memory, such as Pinned; null if unknown."}
  - {name: dst_memory, type: text, doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: src_device_id, type: id, doc: "CUDA device ordinal of the source; null if none or unknown."}
  - {name: dst_device_id, type: id, doc: "CUDA device ordinal of the destination; null if none or unknown."}
  - {name: migration_cause, type: text, doc: "Why unified memory migrated; null for other copies."}
  - {name: virtual_address, type: id, doc: "First address of the migrated unified memory; null for other copies."}
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
  row_id AS memcpy_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  bytes AS size_bytes,
  copyKind AS copy_kind,
  coalesce((SELECT label FROM src_enum_memcpy_oper WHERE id = copyKind), 'kind ' || copyKind) AS direction,
  srcKind AS src_kind,
  dstKind AS dst_kind,
  (SELECT label FROM src_enum_mem_kind WHERE id = srcKind) AS src_memory,
  (SELECT label FROM src_enum_mem_kind WHERE id = dstKind) AS dst_memory,
  srcDeviceId AS src_device_id,
  dstDeviceId AS dst_device_id,
  (SELECT label FROM src_enum_um_migration WHERE id = migrationCause) AS migration_cause,
  virtualAddress AS virtual_address,
  deviceId AS device_id,
  contextId AS context_id,
  nullif(greenContextId, 0) AS green_context_id,
  streamId AS stream_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid,
  graphNodeId AS graph_node_id
FROM src_cuda_memcpy
WHERE
  (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0)
  )
  OR (SELECT as_recorded FROM scope)
