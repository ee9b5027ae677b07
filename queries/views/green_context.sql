/*---
name: green_context
summary: One row per green context, which has a part of the SMs of a GPU.
present_if: [src_cuda_context]
reads: [src_cuda_context]
columns:
  - {name: pid, type: id, doc: "Operating system process ID of its owner."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the process."}
  - {name: green_context_id, type: id, doc: "ID of the green context, unique within its process, as in gpu_op."}
  - {name: parent_context_id, type: id, doc: "Context that it was made from; null if unknown."}
  - {name: sm_count, type: int, unit: count, doc: "Number of its SMs; null before schema 3.24."}
  - {name: tpc_count, type: int, unit: count, doc: "Number of its texture processing clusters (TPCs); null before schema 3.25."}
limits: Work queues of green contexts are not read.
---*/
SELECT
  processId AS pid,
  deviceId AS device_id,
  contextId AS green_context_id,
  nullif(parentContextId, 0) AS parent_context_id,
  nullif(numMultiprocessors, 0) AS sm_count,
  nullif(numTpcs, 0) AS tpc_count
FROM src_cuda_context
WHERE isGreenContext = 1
