/*---
name: memcpy
summary: One row per memory copy that a GPU carried out.
present_if: [src_cuda_memcpy]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [memcpy, memcpy_id]}
reads: [src_cuda_memcpy, src_enum_memcpy_oper, src_enum_mem_kind, src_enum_um_migration]
columns:
  - {name: memcpy_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Copy began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Copy ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied."}
  - {name: copy_kind, type: id, doc: "CUPTI's number for the direction: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP, 11 to 13 unified memory."}
  - {name: direction, type: text, doc: "Direction in words, such as Host-to-Device; kind N for a number nobody knows."}
  - {name: src_kind, type: id, doc: "CUPTI's number for the memory read; 0 is pageable, 1 pinned."}
  - {name: dst_kind, type: id, doc: "CUPTI's number for the memory written."}
  - {name: src_memory, type: text, doc: "Kind of the memory read, such as Pinned; null if the export does not say."}
  - {name: dst_memory, type: text, doc: "Kind of the memory written, such as Device; null if the export does not say."}
  - {name: src_device_id, type: id, doc: "GPU that was read from; null if none or not said."}
  - {name: dst_device_id, type: id, doc: "GPU that was written to; null if none or not said."}
  - {name: migration_cause, type: text, doc: "Why unified memory moved; null for other copies."}
  - {name: virtual_address, type: id, doc: "First address of the pages that unified memory moved; null for other copies."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it, unique within a process at best; 0 or null if none did."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; with correlation_id the key to the launching call."}
  - {name: graph_node_id, type: id, doc: "Node of the CUDA graph that ran it; null or 0 outside a graph."}
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
