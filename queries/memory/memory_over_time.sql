/*---
name: memory_over_time
version: 1
title: Memory over time
summary: Most memory in use in each interval of the capture, per device and allocator.
why: To see whether memory grows from step to step, and where it peaks.
kind: trace
tags: [cuda, gpu, memory]
reads: [memory_event]
params:
  - {name: bins, type: int, default: 30, min: 1, max: 10000, doc: "Number of intervals between the first and the last event."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; null for the host."}
  - {name: allocator, type: text, priority: 0, doc: "Who hands out the memory: CUDA, or PyTorch's allocators."}
  - {name: memory_kind, type: text, label: "memory", priority: 0, doc: "Kind of memory, such as Device; Host for PyTorch's memory in the host."}
  - {name: start_ns, type: timestamp, unit: ns, label: "start", priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 3, doc: "Length of the interval."}
  - {name: used_bytes, type: bytes, unit: bytes, label: "most in use", priority: 1, doc: "Most memory in use in the interval."}
  - {name: reserved_bytes, type: bytes, unit: bytes, label: "most reserved", priority: 1, doc: "Most memory that PyTorch's allocator held; null for CUDA."}
  - {name: allocations, type: int, unit: count, priority: 2, doc: "Allocations in the interval."}
  - {name: releases, type: int, unit: count, priority: 2, doc: "Releases in the interval."}
checks:
  - allocations >= 0 AND releases >= 0 AND dur_ns >= 1
when_empty: "no allocation was recorded: nsys profile --cuda-memory-usage=true, or profile_memory=True in PyTorch"
limits: >-
  Intervals without an event have no row: the memory in use is that of the event before. What CUDA handed out before
  the capture is unknown.
see_also: [memory_peaks, memory_at_peak, memory_by_range]
---*/
WITH
extent AS MATERIALIZED (
  SELECT
    min(at_ns) AS start_ns,
    max(1, (max(at_ns) - min(at_ns) + :bins) / :bins) AS dur_ns
  FROM memory_event
),
event AS MATERIALIZED (
  SELECT
    gpu_id,
    allocator,
    memory_kind,
    (at_ns - extent.start_ns) / extent.dur_ns AS bin,
    is_release,
    used_bytes,
    reserved_bytes,
    -- What was in use when the interval began counts in it, too.
    lag(used_bytes) OVER earlier AS before_bytes,
    lag(reserved_bytes) OVER earlier AS before_reserved_bytes,
    extent.start_ns,
    extent.dur_ns
  FROM memory_event
  CROSS JOIN extent
  WINDOW earlier AS (PARTITION BY gpu_id, allocator, memory_kind ORDER BY at_ns, event_id)
)
SELECT
  gpu_id,
  allocator,
  memory_kind,
  start_ns + bin * dur_ns AS start_ns,
  dur_ns,
  max(max(used_bytes, coalesce(before_bytes, used_bytes))) AS used_bytes,
  max(max(reserved_bytes, coalesce(before_reserved_bytes, reserved_bytes))) AS reserved_bytes,
  count(*) FILTER (WHERE NOT is_release) AS allocations,
  count(*) FILTER (WHERE is_release) AS releases
FROM event
GROUP BY gpu_id, allocator, memory_kind, bin
ORDER BY gpu_id IS NULL, gpu_id, allocator, memory_kind, bin
