/*---
name: gpu_context_switches
version: 1
title: GPU context switches
summary: How long and how often each context was on each GPU, most time first.
why: To see which other programs used the GPU, and how much time switching costs.
kind: sum
tags: [gpu]
reads: [gpu_context_slice]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU as the driver counts; null if unknown."}
  - {name: pid, type: id, priority: 0, doc: "Process that owns the context, as the host numbers it; null if unknown."}
  - {name: process_name, type: text, label: "process", priority: 1, doc: "Name or path of its executable; null if unknown."}
  - {name: context_id, type: id, label: "context", priority: 0, doc: "GPU context, as the driver numbers it."}
  - {name: slices, type: int, unit: count, priority: 1, doc: "Times that the context was on the GPU."}
  - {name: total_ns, type: duration, unit: ns, label: "time on GPU", priority: 1, doc: "Sum of the lengths of these slices."}
  - {name: time_pct, type: percent, unit: percent, label: "share of recorded time", priority: 1, doc: "total_ns as a share of the time from the first restore to the last save on this GPU."}
  - {name: median_ns, type: duration, unit: ns, label: "median slice", priority: 1, doc: "Median length of a slice."}
  - {name: max_ns, type: duration, unit: ns, label: "longest slice", doc: "Longest slice."}
  - {name: median_away_ns, type: duration, unit: ns, label: "median time away", priority: 1, doc: "Median time from a save of the context to its next restore; null for a single slice."}
  - {name: max_away_ns, type: duration, unit: ns, label: "longest time away", doc: "Longest time from a save of the context to its next restore; null for a single slice."}
  - {name: away_ns, type: duration, unit: ns, label: "time away while others ran", doc: "Time between its first restore and its last save in which other contexts were on the GPU."}
  - {name: first_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of its first slice, on the report's clock."}
  - {name: last_ns, type: timestamp, unit: ns, priority: 3, doc: "End of its last slice."}
checks:
  - slices >= 1 AND total_ns >= max_ns
  - time_pct BETWEEN 0 AND 100.000001
  - away_ns >= 0
limits: >-
  A context that is on the GPU need not run anything. Kernels of a context that is switched out appear as running, for
  longer than they do. In a container, the host's process IDs differ from those of other queries. Slices at both ends of
  the capture are left out; see gpu_context_slice.
see_also: [gpu_time, process_activity, gpu_devices]
---*/
WITH
slice AS MATERIALIZED (
  SELECT
    *,
    start_ns - lag(end_ns) OVER (
      PARTITION BY gpu_id, context_id, global_pid
      ORDER BY start_ns, end_ns
    ) AS away_ns
  FROM gpu_context_slice
),
whole AS MATERIALIZED (
  SELECT gpu_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns, time_set(start_ns, end_ns) AS times
  FROM slice
  GROUP BY gpu_id
),
by_context AS MATERIALIZED (
  SELECT
    gpu_id,
    global_pid,
    context_id,
    min(pid) AS pid,
    min(process_name) AS process_name,
    count(*) AS slices,
    sum(dur_ns) AS total_ns,
    median(dur_ns) AS median_ns,
    max(dur_ns) AS max_ns,
    median(away_ns) AS median_away_ns,
    max(away_ns) AS max_away_ns,
    min(start_ns) AS first_ns,
    max(end_ns) AS last_ns,
    busy_ns(start_ns, end_ns) AS busy_ns
  FROM slice
  GROUP BY gpu_id, global_pid, context_id
)
SELECT
  by_context.gpu_id,
  by_context.pid,
  by_context.process_name,
  by_context.context_id,
  by_context.slices,
  by_context.total_ns,
  100.0 * by_context.total_ns / nullif(whole.end_ns - whole.start_ns, 0) AS time_pct,
  by_context.median_ns,
  by_context.max_ns,
  by_context.median_away_ns,
  by_context.max_away_ns,
  overlap_ns(whole.times, by_context.first_ns, by_context.last_ns) - by_context.busy_ns AS away_ns,
  by_context.first_ns,
  by_context.last_ns
FROM by_context
JOIN whole
  ON whole.gpu_id IS NOT DISTINCT FROM by_context.gpu_id
ORDER BY by_context.gpu_id, by_context.total_ns DESC, by_context.global_pid, by_context.context_id
