/*---
name: kernel
summary: One row per kernel execution on a GPU.
present_if: [src_cuda_kernel]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [kernel, kernel_id]}
reads: [scope, src_cuda_kernel, src_string_id, src_enum_launch_type]
columns:
  - {name: kernel_id, type: id, doc: "Row ID in the raw table. Use it as the last sort key."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the execution, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the execution."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: kernel_name, type: text, doc: "Demangled name with template arguments and parameters."}
  - {name: short_name, type: text, doc: "Function name without template arguments and parameters."}
  - {name: mangled_name, type: text, doc: "Mangled symbol; the demangled name if the export has no mangled one."}
  - {name: name_id, type: id, doc: "ID of kernel_name; faster to group by than the text."}
  - {name: short_name_id, type: id, doc: "ID of short_name."}
  - {name: mangled_name_id, type: id, doc: "ID of mangled_name."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: registers_per_thread, type: int, unit: count, doc: "Hardware registers that each thread of the kernel uses."}
  - {name: static_shared_bytes, type: bytes, unit: bytes, doc: "Static shared memory per block, fixed at compile time."}
  - {name: dynamic_shared_bytes, type: bytes, unit: bytes, doc: "Dynamic shared memory per block, requested at launch."}
  - {name: local_total_bytes, type: bytes, unit: bytes, doc: "Local memory for all threads of the launch."}
  - {name: launch_type, type: text, doc: "Launch type, regular or cooperative; null if unknown."}
  - {name: graph_node_id, type: id, doc: "CUDA graph node that ran the operation; null or 0 outside a graph."}
limits: Kernels of a CUDA graph traced as a whole are not included; see graph_trace.
---*/
SELECT
  row_id AS kernel_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = demangledName) AS kernel_name,
  (SELECT value FROM src_string_id WHERE id = shortName) AS short_name,
  (SELECT value FROM src_string_id WHERE id = coalesce(mangledName, demangledName)) AS mangled_name,
  demangledName AS name_id,
  shortName AS short_name_id,
  coalesce(mangledName, demangledName) AS mangled_name_id,
  deviceId AS device_id,
  contextId AS context_id,
  nullif(greenContextId, 0) AS green_context_id,
  streamId AS stream_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid,
  gridX AS grid_x,
  gridY AS grid_y,
  gridZ AS grid_z,
  blockX AS block_x,
  blockY AS block_y,
  blockZ AS block_z,
  registersPerThread AS registers_per_thread,
  staticSharedMemory AS static_shared_bytes,
  dynamicSharedMemory AS dynamic_shared_bytes,
  localMemoryTotal AS local_total_bytes,
  (SELECT label FROM src_enum_launch_type WHERE id = launchType) AS launch_type,
  graphNodeId AS graph_node_id
FROM src_cuda_kernel
WHERE
  (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0)
  )
  OR (SELECT as_recorded FROM scope)
