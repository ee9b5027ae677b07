/*---
name: gpu_op
summary: One row per operation that a GPU carried out - kernel, copy or fill.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [op_kind, op_id]}
reads: [all_kernel, all_memcpy, all_memset]
columns:
  - {name: op_id, type: id, doc: "Row of the raw table that op_kind names."}
  - {name: op_kind, type: text, doc: "kernel, memcpy or memset."}
  - {name: op_name, type: text, doc: "Demangled kernel name, [CUDA memcpy Host-to-Device] and its like, or [CUDA memset]."}
  - {name: short_name, type: text, doc: "op_name with the short name of a kernel."}
  - {name: mangled_name, type: text, doc: "op_name with the mangled name of a kernel."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Operation began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Operation ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for a kernel."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it, unique within a process at best; 0 or null if none did."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; with correlation_id the key to the launching call."}
  - {name: graph_node_id, type: id, doc: "Node of the CUDA graph that ran it; null or 0 outside a graph."}
limits: Work of a CUDA graph that was traced as a whole is not here; see graph_trace.
---*/
SELECT
  kernel_id AS op_id,
  'kernel' AS op_kind,
  kernel_name AS op_name,
  short_name AS short_name,
  mangled_name AS mangled_name,
  start_ns,
  end_ns,
  dur_ns,
  NULL AS size_bytes,
  device_id,
  context_id,
  green_context_id,
  stream_id,
  correlation_id,
  pid,
  global_pid,
  graph_node_id
FROM all_kernel
UNION ALL
SELECT
  memcpy_id AS op_id,
  'memcpy' AS op_kind,
  '[CUDA memcpy ' || direction || ']' AS op_name,
  '[CUDA memcpy ' || direction || ']' AS short_name,
  '[CUDA memcpy ' || direction || ']' AS mangled_name,
  start_ns,
  end_ns,
  dur_ns,
  size_bytes AS size_bytes,
  device_id,
  context_id,
  green_context_id,
  stream_id,
  correlation_id,
  pid,
  global_pid,
  graph_node_id
FROM all_memcpy
UNION ALL
SELECT
  memset_id AS op_id,
  'memset' AS op_kind,
  '[CUDA memset]' AS op_name,
  '[CUDA memset]' AS short_name,
  '[CUDA memset]' AS mangled_name,
  start_ns,
  end_ns,
  dur_ns,
  size_bytes AS size_bytes,
  device_id,
  context_id,
  green_context_id,
  stream_id,
  correlation_id,
  pid,
  global_pid,
  graph_node_id
FROM all_memset
