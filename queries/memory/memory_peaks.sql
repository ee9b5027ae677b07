/*---
name: memory_peaks
version: 1
title: Peak of allocated memory
summary: Most memory in use on each device, when that was, and what was not released.
why: To see how close a run is to out of memory, and whether memory grows.
kind: sum
tags: [cuda, gpu, memory]
reads: [memory_event]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; null for the host."}
  - {name: allocator, type: text, priority: 0, doc: "Who hands out the memory: CUDA, or PyTorch's allocators, which hold memory of CUDA."}
  - {name: memory_kind, type: text, label: "memory", priority: 0, doc: "Kind of memory, such as Device or Pinned; Host for PyTorch's memory in the host."}
  - {name: peak_bytes, type: bytes, unit: bytes, label: "peak", priority: 1, doc: "Most memory in use after an event; null if the capture does not say."}
  - {name: peak_ns, type: timestamp, unit: ns, label: "at", priority: 1, doc: "Time of the first of these events, on the report's clock."}
  - {name: reserved_bytes, type: bytes, unit: bytes, label: "most reserved", priority: 1, doc: "Most memory that PyTorch's allocator held, in use or kept for later; null for CUDA."}
  - {name: first_bytes, type: bytes, unit: bytes, label: "before", priority: 2, doc: "Memory in use before the first event; for CUDA it is 0, because earlier allocations are unknown."}
  - {name: last_bytes, type: bytes, unit: bytes, label: "after", priority: 2, doc: "Memory in use after the last event."}
  - {name: allocations, type: int, unit: count, priority: 1, doc: "Allocations in the capture."}
  - {name: kept_blocks, type: int, unit: count, label: "blocks kept", priority: 1, doc: "Blocks that were allocated in the capture and not released in it."}
  - {name: kept_bytes, type: bytes, unit: bytes, label: "memory kept", priority: 1, doc: "Bytes of these blocks."}
checks:
  - allocations >= kept_blocks AND kept_bytes >= 0
  - peak_bytes IS NULL OR peak_bytes >= coalesce(last_bytes, 0)
when_empty: "no allocation was recorded: nsys profile --cuda-memory-usage=true, or profile_memory=True in PyTorch"
limits: >-
  Memory of other processes is unknown. What CUDA had handed out before the capture is unknown, too; PyTorch says what
  its allocator had. PyTorch's memory is a part of CUDA's: do not add them. With --time, the peak of that time.
see_also: [memory_at_peak, memory_over_time, memory_by_range, allocation]
---*/
WITH
event AS MATERIALIZED (
  SELECT
    gpu_id,
    allocator,
    memory_kind,
    at_ns,
    event_id,
    is_release,
    size_bytes,
    used_bytes,
    reserved_bytes,
    row_number() OVER (
      PARTITION BY gpu_id, allocator, memory_kind
      ORDER BY used_bytes DESC, at_ns, event_id
    ) AS place,
    row_number() OVER (PARTITION BY gpu_id, allocator, memory_kind ORDER BY at_ns, event_id) AS nth,
    count(*) OVER (PARTITION BY gpu_id, allocator, memory_kind) AS events,
    -- A block is released by the next event of its address.
    lead(is_release) OVER (
      PARTITION BY gpu_id, allocator, memory_kind, global_pid, address
      ORDER BY at_ns, event_id
    ) AS next_is_release
  FROM memory_event
)
SELECT
  gpu_id,
  allocator,
  memory_kind,
  max(iif(place = 1, used_bytes, NULL)) AS peak_bytes,
  max(iif(place = 1, at_ns, NULL)) AS peak_ns,
  max(reserved_bytes) AS reserved_bytes,
  max(iif(nth = 1, used_bytes - iif(is_release, -1, 1) * coalesce(size_bytes, 0), NULL)) AS first_bytes,
  max(iif(nth = events, used_bytes, NULL)) AS last_bytes,
  count(*) FILTER (WHERE NOT is_release) AS allocations,
  count(*) FILTER (WHERE NOT is_release AND next_is_release IS NULL) AS kept_blocks,
  coalesce(sum(size_bytes) FILTER (WHERE NOT is_release AND next_is_release IS NULL), 0) AS kept_bytes
FROM event
GROUP BY gpu_id, allocator, memory_kind
ORDER BY gpu_id IS NULL, gpu_id, allocator, memory_kind
