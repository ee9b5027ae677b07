/*---
name: cuda_context
summary: One row per ordinary CUDA context.
present_if: [src_cuda_context]
reads: [device, src_cuda_context]
columns:
  - {name: pid, type: id, doc: "Operating system process ID of its owner."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the process."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: context_id, type: id, doc: "ID of the context, unique within its process."}
limits: Green contexts, which are parts of an ordinary one, are not among them.
---*/
SELECT
  context.processId AS pid,
  context.deviceId AS device_id,
  coalesce(
    (SELECT max(gpu_id) FROM device WHERE device_id = context.deviceId AND pid = context.processId),
    (SELECT max(gpu_id) FROM device WHERE device_id = context.deviceId AND pid IS NULL),
    context.deviceId
  ) AS gpu_id,
  context.contextId AS context_id
FROM src_cuda_context AS context
WHERE coalesce(context.isGreenContext, 0) = 0
