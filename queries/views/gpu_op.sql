/*---
name: gpu_op
summary: One row per GPU operation - kernel, copy or fill.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [op_kind, op_id]}
reads: [all_kernel, all_memcpy, all_memset]
columns:
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_name, type: text, doc: "Demangled kernel name, a name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
  - {name: short_name, type: text, doc: "Same as op_name, but with the short kernel name."}
  - {name: mangled_name, type: text, doc: "Same as op_name, but with the mangled kernel name."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for a kernel."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
  - {name: graph_node_id, type: id, doc: "CUDA graph node that ran the operation; null or 0 outside a graph."}
limits: Work in a CUDA graph traced as a whole is not included; see graph_trace.
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
