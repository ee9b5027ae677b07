/*---
name: stream_concurrency
version: 2
title: Concurrent streams
summary: Time in which each GPU had no stream, one stream, two streams or more at work.
why: To see whether streams really overlap, and how long the GPU had nothing to do.
kind: sum
tags: [cuda, kernel, memory]
reads: [gpu_busy, gpu_window]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null if unknown or if several processes used the GPU."}
  - {name: processes, type: int, unit: count, priority: 3, doc: "Number of processes that used the GPU."}
  - {name: streams, type: int, unit: count, label: "streams at work", priority: 0, doc: "Number of streams at work at the same time; 0 means an idle GPU."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time with exactly this number of streams at work."}
  - {name: time_pct, type: percent, unit: percent, label: "share of window", priority: 1, doc: "dur_ns as a share of the GPU's window."}
checks:
  - dur_ns > 0 AND streams >= 0 AND processes >= 1
  - time_pct BETWEEN 0 AND 100
when_empty: "no GPU operation was recorded"
limits: >-
  The rows of a GPU add up to its window, which is the time that --time or --window selects, or the time from its first
  to its last operation. A stream is at work while a kernel, a copy, a fill or a CUDA graph traced as a whole runs on
  it; the branches inside the graph count as one stream. Streams of the same number in different contexts or
  processes are different streams. Processes that share a GPU are counted together; they usually take turns on it,
  although both look at work. The number of streams at work does not show how much of the GPU each one uses.
see_also: [gpu_time, gpu_time_util, gpu_gaps]
---*/
WITH
-- Starts and ends of the time in which each stream was busy, without overlaps.
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
    sum(sign) OVER to_next - last_value(sign) OVER to_next AS streams,
    last_value(at_ns) OVER to_next - at_ns AS dur_ns
  FROM edge
  -- SQLite sorts once for each window, and lead() has a window of its own.
  WINDOW to_next AS (PARTITION BY gpu_id ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)
),
-- gpu_window also has the idle time at both ends of the window, and none outside it.
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
    CASE WHEN count(DISTINCT coalesce(pid, -1)) = 1 THEN min(pid) END AS pid,
    count(DISTINCT coalesce(pid, -1)) AS processes
  FROM (SELECT DISTINCT gpu_id, pid FROM gpu_busy WHERE level = 'stream' AND activity = 'any')
  GROUP BY gpu_id
)
SELECT
  spent.gpu_id,
  gpu_window.device_id,
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
