/*---
name: timeline_memory
version: 1
title: Memory on the timeline
summary: Most memory in use over time, per device and allocator, as a list of numbers.
why: To see which work allocates memory.
kind: sum
tags: [gpu, memory]
internal: true
reads: []
asks: [memory_over_time]
params:
  - {name: bins, type: int, default: 30, min: 1, max: 10000, doc: "As in memory_over_time."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; null for the host."}
  - {name: allocator, type: text, priority: 0, doc: "Who hands out the memory."}
  - {name: memory_kind, type: text, label: "memory", priority: 0, doc: "Kind of memory, such as Device."}
  - {name: max_bytes, type: bytes, unit: bytes, label: "most in use", priority: 1, doc: "Most memory in use in the capture."}
  - {name: start_list, type: text, priority: 3, doc: "JSON list of the starts of the intervals with allocations or releases, in ns on the report's clock: the first, then each from the one before."}
  - {name: used_list, type: text, priority: 3, doc: "JSON list of the most memory in use in them, in bytes; it stays until the next one."}
when_empty: "no allocation was recorded"
limits: See memory_over_time.
see_also: [timeline_lanes, memory_over_time]
---*/
WITH
stepped AS (
  SELECT
    gpu_id,
    allocator,
    memory_kind,
    used_bytes,
    start_ns - lag(start_ns, 1, 0) OVER (PARTITION BY gpu_id, allocator, memory_kind ORDER BY start_ns) AS start_step
  FROM memory_over_time
  ORDER BY gpu_id, allocator, memory_kind, start_ns
)
SELECT
  gpu_id,
  allocator,
  memory_kind,
  max(used_bytes) AS max_bytes,
  json_group_array(start_step) AS start_list,
  json_group_array(used_bytes) AS used_list
FROM stepped
GROUP BY gpu_id, allocator, memory_kind
ORDER BY gpu_id, allocator, memory_kind
