/*---
name: class_windows
version: 1
title: What each GPU did in the iterations
summary: Compute, exposed communication, exposed copies and idle time of each iteration.
why: To measure on the timeline what sums of durations can only estimate.
kind: sum
tags: [classes, cuda, gpu, nvtx]
internal: true
reads: [gpu_busy, gpu_window, nvtx_name, nvtx_projection]
requires: [gpu_window]
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations. Without it, each GPU has one window: from its first to its last operation."}
  - {name: ranges, type: list, doc: "Row IDs of the only ranges that count; all if not set."}
columns:
  - {name: range_id, type: id, label: "range ID", priority: 0, doc: "Row ID of the range in the raw table; null without a tag."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: window_ns, type: duration, unit: ns, priority: 1, doc: "Length of the window."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a compute kernel ran on the GPU, from any range or process."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran: the rest of window_ns."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
when_empty: "no GPU operation was recorded, or no range with this name launched GPU work"
limits: >-
  See gpu_time and gpu_time_by_range: everything that runs on the GPU in that time counts, not only what the range
  launched.
see_also: [gpu_time, gpu_time_by_range, class_figures]
---*/
WITH
iteration AS (
  SELECT
    range.range_id,
    range.pid,
    range.proj_start_ns,
    range.proj_end_ns
  FROM nvtx_name AS name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE :tag IS NOT NULL
    AND (name.range_name GLOB :tag OR name.range_text GLOB :tag)
    AND (:ranges IS NULL OR range.range_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:ranges)))
),
used AS (
  SELECT DISTINCT pid, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
measured AS (
  SELECT
    iteration.range_id,
    gpu.gpu_id,
    gpu.window_ns,
    gpu.compute_ns,
    gpu.exposed_communication_ns,
    gpu.exposed_memory_ns,
    gpu.idle_ns
  FROM iteration
  JOIN gpu_window AS gpu
    ON gpu.start_ns = iteration.proj_start_ns
    AND gpu.end_ns = iteration.proj_end_ns
  JOIN used
    ON used.pid = iteration.pid
    AND used.gpu_id = gpu.gpu_id
  UNION ALL
  SELECT
    NULL AS range_id,
    gpu_id,
    window_ns,
    compute_ns,
    exposed_communication_ns,
    exposed_memory_ns,
    idle_ns
  FROM gpu_window
  WHERE :tag IS NULL
)
SELECT *
FROM measured
ORDER BY range_id, gpu_id
