/*---
name: memory_event
summary: One row per allocation or release of memory through CUDA, with the memory in use after it.
present_if: [src_cuda_mem_usage]
scope: {time: [at_ns, at_ns], device: device_id, process: pid}
reads: [device, src_cuda_mem_usage, src_enum_mem_kind]
columns:
  - {name: event_id, type: id, doc: "Row ID in the raw table."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Time of the allocation or release, on the report's clock."}
  - {name: is_release, type: bool, doc: "Whether memory is released; else it is allocated."}
  - {name: memory_kind, type: text, doc: "Device, Pinned, Managed, Array, Device Static or another; null if unknown."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Size of the block; null for the release of a block that was allocated before the capture."}
  - {name: used_bytes, type: bytes, unit: bytes, doc: "Memory of this kind that all processes have allocated in the capture on this GPU and not released, after the event and all others at its time."}
  - {name: address, type: id, doc: "Start address of the block."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the API call within the process; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
limits: >-
  Memory that was allocated before the capture is unknown, so used_bytes does not have it. Blocks that a program takes
  from its own pool, as PyTorch does, are not allocations through CUDA. Pinned memory lies in the host; it counts for
  the GPU of the context that allocated it.
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
)
SELECT
  event_id,
  at_ns,
  is_release,
  memory_kind,
  size_bytes,
  sum(iif(is_release, -1, 1) * coalesce(size_bytes, 0)) OVER (
    PARTITION BY gpu_id, memory_kind
    ORDER BY at_ns
    RANGE UNBOUNDED PRECEDING
  ) AS used_bytes,
  address,
  correlation_id,
  device_id,
  gpu_id,
  pid,
  global_pid
FROM sized
