/*---
name: graphics_op
summary: One row per workload of a graphics API on a GPU - Vulkan, OpenGL or Direct3D 12.
present_if: [src_vulkan_workload, src_opengl_workload, src_dx12_workload]
scope: {time: [start_ns, end_ns], device: device_id, process: pid}
reads: [src_vulkan_workload, src_opengl_workload, src_dx12_workload, src_string_id]
columns:
  - {name: op_kind, type: text, doc: "API: vulkan, opengl or dx12."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start on the GPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End on the GPU."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: op_name, type: text, doc: "Name of the workload, or text of the debug marker."}
  - {name: device_id, type: id, doc: "GPU, as the raw table numbers them, which may differ from the CUDA ordinal; null if unknown."}
  - {name: context_id, type: id, doc: "Trace context (Vulkan, OpenGL) or short ID of the object (Direct3D 12); null if none."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: tid, type: id, doc: "Operating system thread ID; null if unknown."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs; null if unknown."}
limits: >-
  Debug markers on the GPU are rows, too. They overlap the workloads they enclose, as NVIDIA's rules have it. Direct3D 11
  has no workloads on the GPU in an export.
---*/
SELECT
  'vulkan' AS op_kind,
  row_id AS op_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = coalesce(textId, nameId)) AS op_name,
  gpu AS device_id,
  contextId AS context_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_vulkan_workload
UNION ALL
SELECT
  'opengl' AS op_kind,
  row_id AS op_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS op_name,
  gpu AS device_id,
  contextId AS context_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_opengl_workload
UNION ALL
SELECT
  'dx12' AS op_kind,
  row_id AS op_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = coalesce(textId, nameId)) AS op_name,
  gpu AS device_id,
  shortContextId AS context_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_dx12_workload
