/*---
name: gpu_time_by_range
version: 1
title: What the GPU's time went to, range by range
summary: Compute, exposed communication, exposed copies and idle in NVTX ranges.
why: To see what a step, a layer or a phase waits for, with parts that add up to its time on the GPU.
kind: sum
tags: [cuda, gpu, nvtx]
reads: [gpu_busy, gpu_window, nvtx_name, nvtx_projection, scope]
requires: [nvtx_projection, gpu_window]
params:
  - {name: range, type: text, default: "*", doc: "GLOB over the range's name, its text or its folded name."}
  - {name: span, type: enum, values: [projected, cpu], default: projected, doc: "Time of a range: from its first GPU operation to its last, or its own on the CPU."}
  - {name: limit, type: int, default: 1000, min: -1, doc: "Rows to return, in order of time; -1 returns all."}
columns:
  - {name: instance, type: int, doc: "Place among the ranges of its folded name and thread, by start, from 0."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside the first process that uses it: what --device takes."}
  - {name: window_ns, type: duration, unit: ns, doc: "Length of the range's time, as far as it is in the scope."}
  - {name: compute_ns, type: duration, unit: ns, doc: "A kernel that computes ran on the GPU, whoever launched it."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "A communication kernel ran and none that computes."}
  - {name: exposed_memory_ns, type: duration, unit: ns, doc: "A copy or fill ran and no kernel."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Nothing ran: what is left of window_ns."}
  - {name: compute_pct, type: percent, unit: percent, doc: "compute_ns in window_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, doc: "exposed_communication_ns in window_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, doc: "exposed_memory_ns in window_ns."}
  - {name: idle_pct, type: percent, unit: percent, doc: "idle_ns in window_ns."}
  - {name: communication_ns, type: duration, unit: ns, doc: "A communication kernel ran, hidden behind compute or not."}
  - {name: memory_ns, type: duration, unit: ns, doc: "A copy or fill ran, hidden or not."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the range, on all GPUs."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Its time began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Its time ended."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: range_id, type: id, doc: "Row of the raw table."}
  - {name: range_name, type: text, doc: "Name of the range, behind its domain and a colon outside the default domain; null if empty."}
  - {name: layer_name, type: text, doc: "The same with numbers folded to *."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
  - idle_ns >= 0 AND exposed_communication_ns <= communication_ns AND exposed_memory_ns <= memory_ns
limits: >-
  Everything that runs on the GPU in that time counts, not only what the range launched: neighbours that still run, other
  streams, other processes. Ranges that launched nothing have no projected time and no row, with span=cpu they have one.
  A process that uses several GPUs has a row for each, even if the range used one. Nested ranges cover the same time:
  do not add them up.
see_also: [gpu_time, iterations, nvtx_gpu_proj_trace]
---*/
WITH
named AS (
  SELECT name_id, layer_name
  FROM nvtx_name
  WHERE layer_name GLOB :range
    OR range_name GLOB :range
    OR range_text GLOB :range
    OR range_text IS NULL AND :range = '*'
),
instance AS (
  SELECT
    named.layer_name,
    range.*,
    iif(:span = 'cpu', range.start_ns, range.proj_start_ns) AS from_ns,
    iif(:span = 'cpu', range.end_ns, range.proj_end_ns) AS to_ns,
    row_number() OVER (
      PARTITION BY named.layer_name, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
    ) - 1 AS instance
  FROM named
  JOIN nvtx_projection AS range
    ON range.name_id = named.name_id
),
used AS (
  SELECT DISTINCT pid, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
)
SELECT
  instance.instance,
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
  instance.op_count,
  gpu.start_ns,
  gpu.end_ns,
  instance.pid,
  instance.tid,
  instance.range_id,
  instance.range_name,
  instance.layer_name,
  (SELECT attribution FROM scope) AS attribution
FROM instance
JOIN gpu_window AS gpu
  ON gpu.start_ns = instance.from_ns
  AND gpu.end_ns = instance.to_ns
JOIN used
  ON used.pid = instance.pid
  AND used.gpu_id = gpu.gpu_id
ORDER BY instance.from_ns, instance.to_ns DESC, instance.range_id, gpu.gpu_id
LIMIT :limit
