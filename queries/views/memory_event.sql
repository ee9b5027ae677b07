/*---
name: memory_event
summary: One row per allocation or release of memory, through CUDA or by PyTorch, with the memory in use after it.
present_if: [src_allocator_event, src_cuda_mem_usage]
scope: {time: [at_ns, at_ns], device: device_id, process: pid}
reads: [all_cuda_call, device, src_allocator_event, src_cuda_mem_usage, src_enum_mem_kind]
columns:
  - {name: event_id, type: id, doc: "Row ID in the raw table of this allocator."}
  - {name: allocator, type: text, doc: "CUDA for requests to the driver, PyTorch for those to PyTorch's allocators, which keep released blocks for later."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Time of the allocation or release, on the report's clock."}
  - {name: is_release, type: bool, doc: "Whether memory is released; else it is allocated."}
  - {name: memory_kind, type: text, doc: "Device, Pinned, Managed, Array, Device Static or another; Host for the host's memory in PyTorch; null if unknown."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Size of the block; null for the release of a block that was allocated before the capture."}
  - {name: used_bytes, type: bytes, unit: bytes, doc: "Memory of this kind that all processes have allocated in the capture on this GPU and not released, after the event and all others at its time. For PyTorch, what its allocator said after the event, with what it had before."}
  - {name: reserved_bytes, type: bytes, unit: bytes, doc: "Memory that PyTorch's allocator holds on this device after the event, in use or kept for later; null for CUDA, and if unknown."}
  - {name: address, type: id, doc: "Start address of the block."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the API call within the process; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; null for the host in PyTorch."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers; null for the host in PyTorch."}
  - {name: call_ns, type: timestamp, unit: ns, doc: "Time at which the program asked: the start of the API call, or at_ns."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread that asked, unique across hosts and VMs; null if the API call is unknown."}
limits: >-
  Memory that was allocated through CUDA before the capture is unknown, so used_bytes does not have it. Blocks that a
  program takes from its own pool are not allocations through CUDA: PyTorch's are in its traces (profile_memory=True),
  with allocator = 'PyTorch'. Do not add up both. Pinned memory lies in the host; it counts for the GPU of the context
  that allocated it.
---*/
WITH
event AS (
  SELECT
    row_id,
    start,
    memoryOperationType = 1 AS is_release,
    memKind,
    bytes,
    address,
    correlationId,
    deviceId,
    globalPid,
    -- What the block was before this event.
    lag(memoryOperationType) OVER block AS before_type,
    lag(bytes) OVER block AS before_bytes,
    lag(memKind) OVER block AS before_kind
  FROM src_cuda_mem_usage
  WINDOW block AS (PARTITION BY globalPid, address ORDER BY start, memoryOperationType DESC, row_id)
),
sized AS (
  SELECT
    row_id AS event_id,
    start AS at_ns,
    is_release,
    (
      SELECT label
      FROM src_enum_mem_kind
      WHERE id = iif(is_release AND before_type = 0, before_kind, memKind)
    ) AS memory_kind,
    CASE
      WHEN NOT is_release THEN bytes
      WHEN before_type = 0 THEN before_bytes
    END AS size_bytes,
    address,
    correlationId AS correlation_id,
    deviceId AS device_id,
    coalesce(
      (SELECT max(gpu_id) FROM device WHERE device.device_id = deviceId AND device.pid = globalPid >> 24 & 16777215),
      (SELECT max(gpu_id) FROM device WHERE device.device_id = deviceId AND device.pid IS NULL),
      deviceId
    ) AS gpu_id,
    globalPid >> 24 & 16777215 AS pid,
    globalPid AS global_pid
  FROM event
),
-- One call for each key, and only if there are allocations through CUDA.
call AS (
  SELECT correlation_id, global_pid, global_tid, min(start_ns) AS start_ns
  FROM all_cuda_call
  WHERE correlation_id IN (SELECT correlationId FROM src_cuda_mem_usage)
  GROUP BY global_pid, correlation_id
)
SELECT
  sized.event_id,
  'CUDA' AS allocator,
  sized.at_ns,
  sized.is_release,
  sized.memory_kind,
  sized.size_bytes,
  sum(iif(sized.is_release, -1, 1) * coalesce(sized.size_bytes, 0)) OVER (
    PARTITION BY sized.gpu_id, sized.memory_kind
    ORDER BY sized.at_ns
    RANGE UNBOUNDED PRECEDING
  ) AS used_bytes,
  NULL AS reserved_bytes,
  sized.address,
  sized.correlation_id,
  sized.device_id,
  sized.gpu_id,
  coalesce(call.start_ns, sized.at_ns) AS call_ns,
  sized.pid,
  sized.global_pid,
  call.global_tid
FROM sized
LEFT JOIN call
  ON call.correlation_id = sized.correlation_id
  AND call.global_pid = sized.global_pid
UNION ALL
SELECT
  row_id,
  'PyTorch',
  start,
  bytes < 0,
  iif(deviceType = 0, 'Host', 'Device'),
  abs(bytes),
  allocated,
  reserved,
  address,
  NULL,
  iif(deviceType = 0, NULL, deviceId),
  iif(
    deviceType = 0,
    NULL,
    coalesce(
      (SELECT max(gpu_id) FROM device WHERE device.device_id = deviceId AND device.pid = globalTid >> 24 & 16777215),
      (SELECT max(gpu_id) FROM device WHERE device.device_id = deviceId AND device.pid IS NULL),
      deviceId
    )
  ),
  start,
  globalTid >> 24 & 16777215,
  globalTid & -16777216,
  globalTid
FROM src_allocator_event
