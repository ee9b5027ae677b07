/*---
name: memset
summary: One row per memory fill that a GPU carried out.
present_if: [src_cuda_memset]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [memset, memset_id]}
reads: [src_cuda_memset, src_enum_mem_kind]
columns:
  - {name: memset_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Fill began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Fill ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes written."}
  - {name: fill_value, type: int, doc: "The value written."}
  - {name: mem_kind, type: id, doc: "CUPTI's number for the memory written; 1 is pinned, 4 managed."}
  - {name: memory, type: text, doc: "Kind of the memory written, such as Device; null if the export does not say."}
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
