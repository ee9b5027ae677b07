/*---
name: stream_concurrency
version: 1
title: Streams at work at once
summary: How long each GPU had no stream, one stream, two streams and so on at work.
why: To see whether streams really overlap, and how much of the time the GPU had nothing to do.
kind: sum
tags: [cuda, kernel, memory]
reads: [gpu_op, graph_trace, process_device, scope]
requires: [gpu_op | graph_trace]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU; null if its processes number it differently."}
  - {name: pid, type: id, doc: "Operating system's process id; null if several processes used the GPU, or if unknown."}
  - {name: processes, type: int, unit: count, doc: "Processes that used the GPU."}
  - {name: streams, type: int, unit: count, doc: "Streams that are at work at once; 0 is an idle GPU."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time with just so many."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of dur_ns in the time from the GPU's first operation to its last."}
checks:
  - dur_ns > 0 AND streams >= 0 AND processes >= 1
  - time_pct BETWEEN 0 AND 100
limits: >-
  The rows of a GPU add up to the time from its first operation to its last, within --time. A stream is at work while a
  kernel, a copy, a fill or a CUDA graph traced as a whole runs on it; the branches inside such a graph count as one
  stream. Streams of one number in different contexts or processes are different ones. Processes that share a GPU are
  taken together; they mostly take turns on it, though both look at work. Two streams at work say nothing about how much of the GPU each has.
see_also: [gpu_time, gpu_time_util, gpu_gaps]
---*/
WITH
operation AS (
  SELECT global_pid, device_id, context_id, stream_id, start_ns, end_ns
  FROM gpu_op
  UNION ALL
  SELECT global_pid, device_id, context_id, stream_id, start_ns, end_ns
  FROM graph_trace
),
work AS (
  SELECT
    process_device.gpu_id,
    operation.global_pid,
    operation.device_id,
    operation.context_id,
    operation.stream_id,
    max(operation.start_ns, coalesce(scope.start_ns, operation.start_ns)) AS start_ns,
    min(operation.end_ns, coalesce(scope.end_ns, operation.end_ns)) AS end_ns
  FROM operation
  JOIN process_device
    ON process_device.device_id = operation.device_id
    AND process_device.global_pid IS NOT DISTINCT FROM operation.global_pid
  JOIN scope
),
process_span AS (
  SELECT gpu_id, global_pid, device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM work
  GROUP BY gpu_id, global_pid, device_id
),
gpu AS (
  SELECT
    gpu_id,
    CASE WHEN min(device_id) = max(device_id) THEN min(device_id) END AS device_id,
    CASE WHEN count(DISTINCT coalesce(global_pid, -1)) = 1 THEN min(global_pid) END AS global_pid,
    count(DISTINCT coalesce(global_pid, -1)) AS processes,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM process_span
  GROUP BY gpu_id
),
-- Before each operation, when the ones that began earlier on its stream were all done.
follower AS (
  SELECT
    gpu_id,
    start_ns,
    end_ns,
    max(end_ns) OVER (
      PARTITION BY gpu_id, global_pid, device_id, context_id, stream_id
      ORDER BY start_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS done_ns
  FROM work
),
-- Each stream's time without overlaps, as its beginnings and ends.
edge AS (
  SELECT
    gpu_id,
    iif(side.sign = 1, max(start_ns, coalesce(done_ns, start_ns)), end_ns) AS at_ns,
    side.sign
  FROM follower
  JOIN (SELECT 1 AS sign UNION ALL SELECT -1) AS side
  WHERE end_ns > max(start_ns, coalesce(done_ns, start_ns))
  UNION ALL
  SELECT gpu_id, start_ns AS at_ns, 0 AS sign
  FROM gpu
  UNION ALL
  SELECT gpu_id, end_ns AS at_ns, 0 AS sign
  FROM gpu
),
level AS (
  SELECT
    gpu_id,
    sum(sign) OVER (PARTITION BY gpu_id ORDER BY at_ns ROWS UNBOUNDED PRECEDING) AS streams,
    lead(at_ns) OVER (PARTITION BY gpu_id ORDER BY at_ns) - at_ns AS dur_ns
  FROM edge
)
SELECT
  gpu.gpu_id,
  gpu.device_id,
  gpu.global_pid >> 24 & 16777215 AS pid,
  gpu.processes,
  level.streams,
  sum(level.dur_ns) AS dur_ns,
  100.0 * sum(level.dur_ns) / (gpu.end_ns - gpu.start_ns) AS time_pct
FROM level
JOIN gpu ON gpu.gpu_id = level.gpu_id
WHERE level.dur_ns > 0
GROUP BY level.gpu_id, level.streams
ORDER BY level.gpu_id, level.streams
