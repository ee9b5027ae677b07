/*---
name: gpu_time_by_range
version: 2
title: GPU time by NVTX range
summary: Compute, exposed communication, exposed copies and idle time per NVTX range.
why: To see what a step, a layer or a phase waits for, in parts that add up to its time on the GPU.
kind: sum
tags: [cuda, gpu, nvtx]
reads: [gpu_busy, gpu_window, nvtx_name, nvtx_projection, scope]
requires: [nvtx_projection, gpu_window]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name."}
  - {name: span, type: enum, values: [projected, cpu], default: projected, doc: "Time of a range: projected is the time from its first GPU operation to its last; cpu is its own time on the CPU."}
  - {name: limit, type: int, default: 1000, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: instance, type: int, priority: 0, doc: "Position by start among the ranges of the same folded name and thread, from 0."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: window_ns, type: duration, unit: ns, priority: 1, doc: "Length of the time of the range, cut to --time or --window."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Time in which a compute kernel ran on the GPU, from any range or process."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Time in which nothing ran: the rest of window_ns."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute % of window", priority: 1, doc: "compute_ns as a share of window_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, label: "exposed comm. % of window", priority: 1, doc: "exposed_communication_ns as a share of window_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, label: "exposed copies % of window", priority: 1, doc: "exposed_memory_ns as a share of window_ns."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle % of window", priority: 1, doc: "idle_ns as a share of window_ns."}
  - {name: communication_ns, type: duration, unit: ns, priority: 3, doc: "Time in which a communication kernel ran, hidden or exposed."}
  - {name: memory_ns, type: duration, unit: ns, priority: 3, doc: "Time in which a copy or fill ran, hidden or exposed."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 3, doc: "GPU operations launched inside the range, on all GPUs."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the time of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the time of the range."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, label: "range ID", priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: layer_name, type: text, label: "folded name", priority: 3, doc: "range_name with each number replaced by *."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
  - idle_ns >= 0 AND exposed_communication_ns <= communication_ns AND exposed_memory_ns <= memory_ns
when_empty: >-
  no matching range launched GPU work: range_names lists the names, and -p span=cpu also shows ranges without GPU work
limits: >-
  Everything that runs on the GPU in that time counts, not only what the range launched: earlier work that still runs,
  other streams, other processes. Ranges that launched nothing have no projected time and no row; with span=cpu they
  have a row. A process that uses several GPUs has a row for each, even if the range used only one. Nested ranges cover
  the same time, so do not add them up. Ranges of the same folded name are listed together, in order of time; the name
  with the longest range comes first.
see_also: [gpu_time, iterations, nvtx_gpu_proj_trace]
---*/
WITH
named AS MATERIALIZED (
  SELECT name_id, layer_name, dense_rank() OVER (ORDER BY layer_name) AS layer
  FROM nvtx_name
  WHERE layer_name GLOB :range
    OR range_name GLOB :range
    OR range_text GLOB :range
    OR range_text IS NULL AND :range = '*'
),
instance AS (
  SELECT
    named.layer,
    range.range_id,
    range.pid,
    iif(:span = 'cpu', range.start_ns, range.proj_start_ns) AS from_ns,
    iif(:span = 'cpu', range.end_ns, range.proj_end_ns) AS to_ns
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
),
used AS MATERIALIZED (
  SELECT DISTINCT pid, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
-- Of each range, only what decides on its place. The rest is looked up for the rows that are returned.
placed AS MATERIALIZED (
  SELECT
    instance.layer,
    instance.range_id,
    instance.from_ns,
    instance.to_ns,
    gpu.gpu_id,
    gpu.window_ns
  FROM instance
  JOIN used
    ON used.pid = instance.pid
  CROSS JOIN gpu_window AS gpu
  WHERE gpu.start_ns = instance.from_ns
    AND gpu.end_ns = instance.to_ns
    AND gpu.gpu_id = used.gpu_id
),
longest AS MATERIALIZED (
  SELECT
    layer,
    max(window_ns) AS window_ns,
    coalesce(
      sum(count(*)) OVER (ORDER BY max(window_ns) DESC, layer ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS rows_above
  FROM placed
  GROUP BY layer
),
-- CROSS JOIN keeps the order of the tables. Otherwise SQLite would build an index of all instances.
shown AS (
  SELECT placed.*, longest.window_ns AS longest_ns
  FROM placed
  CROSS JOIN longest
  WHERE longest.layer = placed.layer
    AND (:limit < 0 OR longest.rows_above < :limit)
  ORDER BY longest_ns DESC, placed.layer, placed.from_ns, placed.to_ns DESC, placed.range_id, placed.gpu_id
  LIMIT :limit
),
numbered AS MATERIALIZED (
  SELECT
    range.range_id,
    row_number() OVER (
      PARTITION BY named.layer, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
    ) - 1 AS instance
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
  WHERE named.layer IN (SELECT layer FROM shown)
)
SELECT
  numbered.instance,
  gpu.gpu_id,
  gpu.device_id,
  gpu.window_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  100.0 * gpu.compute_ns / nullif(gpu.window_ns, 0) AS compute_pct,
  100.0 * gpu.exposed_communication_ns / nullif(gpu.window_ns, 0) AS exposed_communication_pct,
  100.0 * gpu.exposed_memory_ns / nullif(gpu.window_ns, 0) AS exposed_memory_pct,
  100.0 * gpu.idle_ns / nullif(gpu.window_ns, 0) AS idle_pct,
  gpu.communication_ns,
  gpu.memory_ns,
  range.op_count,
  gpu.start_ns,
  gpu.end_ns,
  range.pid,
  range.tid,
  range.range_id,
  range.range_name,
  named.layer_name,
  (SELECT attribution FROM scope) AS attribution
FROM shown
JOIN numbered
  ON numbered.range_id = shown.range_id
CROSS JOIN nvtx_projection AS range
CROSS JOIN named
CROSS JOIN gpu_window AS gpu
WHERE range.range_id = shown.range_id
  AND named.name_id = range.name_id
  AND gpu.start_ns = shown.from_ns
  AND gpu.end_ns = shown.to_ns
  AND gpu.gpu_id = shown.gpu_id
ORDER BY
  shown.longest_ns DESC,
  shown.layer,
  shown.from_ns,
  shown.to_ns DESC,
  shown.range_id,
  shown.gpu_id
