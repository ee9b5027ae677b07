/*---
name: stream_concurrency
version: 1
title: Streams at work at once
summary: How long each GPU had no stream, one stream, two streams and so on at work.
why: To see whether streams really overlap, and how much of the time the GPU had nothing to do.
kind: sum
tags: [cuda, kernel, memory]
reads: [gpu_busy, gpu_window]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU; null if its processes number it differently."}
  - {name: pid, type: id, doc: "Operating system's process id; null if several processes used the GPU, or if unknown."}
  - {name: processes, type: int, unit: count, doc: "Processes that used the GPU."}
  - {name: streams, type: int, unit: count, doc: "Streams that are at work at once; 0 is an idle GPU."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time with just so many."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of dur_ns in the GPU's window."}
checks:
  - dur_ns > 0 AND streams >= 0 AND processes >= 1
  - time_pct BETWEEN 0 AND 100
limits: >-
  The rows of a GPU add up to its window: what --time or --window names, else from its first operation to its last. A stream is at work while a
  kernel, a copy, a fill or a CUDA graph traced as a whole runs on it; the branches inside such a graph count as one
  stream. Streams of one number in different contexts or processes are different ones. Processes that share a GPU are
  taken together; they mostly take turns on it, though both look at work. Two streams at work say nothing about how much of the GPU each has.
see_also: [gpu_time, gpu_time_util, gpu_gaps]
---*/
WITH
-- Each stream's time without overlaps, as its beginnings and ends.
edge AS (
  SELECT gpu_id, start_ns AS at_ns, 1 AS sign
  FROM gpu_busy
  WHERE level = 'stream' AND activity = 'any' AND dur_ns > 0
  UNION ALL
  SELECT gpu_id, end_ns AS at_ns, -1 AS sign
  FROM gpu_busy
  WHERE level = 'stream' AND activity = 'any' AND dur_ns > 0
),
level AS (
  SELECT
    gpu_id,
    sum(sign) OVER (PARTITION BY gpu_id ORDER BY at_ns ROWS UNBOUNDED PRECEDING) AS streams,
    lead(at_ns) OVER (PARTITION BY gpu_id ORDER BY at_ns) - at_ns AS dur_ns
  FROM edge
),
-- Idle time has the window's ends too, and is none outside it.
spent AS (
  SELECT gpu_id, streams, sum(dur_ns) AS dur_ns
  FROM level
  WHERE streams > 0 AND dur_ns > 0
  GROUP BY gpu_id, streams
  UNION ALL
  SELECT gpu_id, 0 AS streams, idle_ns AS dur_ns
  FROM gpu_window
  WHERE idle_ns > 0
),
used_by AS (
  SELECT
    gpu_id,
    CASE WHEN min(device_id) = max(device_id) THEN min(device_id) END AS device_id,
    CASE WHEN count(DISTINCT coalesce(pid, -1)) = 1 THEN min(pid) END AS pid,
    count(DISTINCT coalesce(pid, -1)) AS processes
  FROM (SELECT DISTINCT gpu_id, device_id, pid FROM gpu_busy WHERE level = 'stream' AND activity = 'any')
  GROUP BY gpu_id
)
SELECT
  spent.gpu_id,
  used_by.device_id,
  used_by.pid,
  used_by.processes,
  spent.streams,
  spent.dur_ns,
  100.0 * spent.dur_ns / gpu_window.window_ns AS time_pct
FROM spent
JOIN used_by
  ON used_by.gpu_id = spent.gpu_id
JOIN gpu_window
  ON gpu_window.gpu_id = spent.gpu_id
ORDER BY spent.gpu_id, spent.streams
