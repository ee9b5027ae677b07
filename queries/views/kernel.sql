/*---
name: kernel
summary: One row per kernel execution on a GPU.
present_if: [src_cuda_kernel]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [kernel, kernel_id]}
reads: [src_cuda_kernel, src_string_id, src_enum_launch_type]
columns:
  - {name: kernel_id, type: id, doc: "Row of the raw table; the tie-break of last resort."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Execution began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Execution ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: kernel_name, type: text, doc: "Demangled name with template arguments and parameters."}
  - {name: short_name, type: text, doc: "Name of the function alone."}
  - {name: mangled_name, type: text, doc: "Symbol as compiled; the demangled name where the export has none."}
  - {name: name_id, type: id, doc: "Stands for kernel_name: cheaper to group by."}
  - {name: short_name_id, type: id, doc: "Stands for short_name."}
  - {name: mangled_name_id, type: id, doc: "Stands for mangled_name."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it, unique within a process at best; 0 or null if none did."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; with correlation_id the key to the launching call."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: registers_per_thread, type: int, unit: count, doc: "Registers that each thread needs."}
  - {name: static_shared_bytes, type: bytes, unit: bytes, doc: "Shared memory per block fixed at compile time."}
  - {name: dynamic_shared_bytes, type: bytes, unit: bytes, doc: "Shared memory per block asked for at launch."}
  - {name: local_total_bytes, type: bytes, unit: bytes, doc: "Local memory of all threads together."}
  - {name: launch_type, type: text, doc: "Regular or cooperative; null if the export does not say."}
  - {name: graph_node_id, type: id, doc: "Node of the CUDA graph that ran it; null or 0 outside a graph."}
limits: Kernels of a CUDA graph that was traced as a whole are not here; see graph_trace.
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
