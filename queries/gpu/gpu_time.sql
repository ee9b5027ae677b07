/*---
name: gpu_time
version: 2
title: How each GPU spent its time
summary: Compute, exposed communication, exposed copies and idle time of each GPU.
why: To see what fills a GPU's time before looking at kernels, in parts that add up to the whole.
kind: sum
tags: [cuda, gpu]
reads: [gpu_overlap, gpu_window, memcpy, memset]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: window_ns, type: duration, unit: ns, priority: 1, doc: "Time that --time or --window selects, or the time from the first to the last operation of the GPU."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one operation ran: the sum of the first three parts."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran: the rest of window_ns."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute % of window", doc: "compute_ns as a share of window_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, label: "exposed comm. % of window", doc: "exposed_communication_ns as a share of window_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, label: "exposed copies % of window", doc: "exposed_memory_ns as a share of window_ns."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle % of window", priority: 1, doc: "idle_ns as a share of window_ns."}
  - {name: largest_part, type: text, doc: "Largest of the four parts: compute, communication, memory or idle; the first of these if several tie; null if window_ns is 0."}
  - {name: top_op, type: text, label: "top operation", priority: 3, doc: "Name of the operation with the most exposed time in largest_part; null for idle and if largest_part is null."}
  - {name: top_op_total_ns, type: duration, unit: ns, label: "top operation total", priority: 3, doc: "Sum of the durations of top_op inside the window; null for idle."}
  - {name: top_op_size_bytes, type: bytes, unit: bytes, label: "top operation size", priority: 3, doc: "Bytes that top_op copied or wrote; null for kernels and idle."}
  - {name: communication_ns, type: duration, unit: ns, priority: 3, doc: "Time in which a communication kernel ran, hidden or exposed."}
  - {name: memory_ns, type: duration, unit: ns, priority: 3, doc: "Time in which a copy or fill ran, hidden or exposed."}
  - {name: op_ns, type: duration, unit: ns, label: "operations, summed", priority: 3, doc: "Sum of the durations of operations inside the window; more than busy_ns if operations overlap."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the window, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the window."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
  - compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
  - idle_ns >= 0 AND exposed_communication_ns <= communication_ns AND exposed_memory_ns <= memory_ns
  - op_ns >= busy_ns
when_empty: "no GPU operation was recorded"
limits: >-
  The parts show when the GPU ran something, not how well: a kernel on a single multiprocessor fills the GPU here. A
  CUDA graph traced as a whole counts as compute, whatever it contains. Copies count on the GPU that ran them. With
  --device, --stream, --process or --nvtx, only work in the scope counts, and all other time is idle. The window covers
  one GPU's operations only; the elapsed time of nsq breakdown is that of the whole run, or from the first to the last
  CUDA activity of the capture, with API calls. gpu_elapsed has no window: it splits busy_ns.
see_also: [gpu_time_by_range, comm_overlap, gpu_idle_cause_sum, gpu_idle_causes, stream_concurrency, gpu_gaps]
---*/
WITH
part (gpu_id, rank, most, part_ns) AS (
  SELECT gpu_id, 1, 'compute', compute_ns FROM gpu_window
  UNION ALL
  SELECT gpu_id, 2, 'communication', exposed_communication_ns FROM gpu_window
  UNION ALL
  SELECT gpu_id, 3, 'memory', exposed_memory_ns FROM gpu_window
  UNION ALL
  SELECT gpu_id, 4, 'idle', idle_ns FROM gpu_window
),
most AS (
  SELECT gpu_id, most
  FROM (SELECT *, row_number() OVER (PARTITION BY gpu_id ORDER BY part_ns DESC, rank) AS nth FROM part)
  WHERE nth = 1 AND part_ns > 0
),
-- Group by name ID, not text: it is many times faster.
op AS MATERIALIZED (
  SELECT
    gpu_id,
    activity,
    op_kind,
    name_id,
    min(op_id) AS any_op_id,
    sum(exposed_ns) AS exposed_ns,
    sum(in_window_ns) AS op_ns,
    sum(
      CASE op_kind
        WHEN 'memcpy' THEN (SELECT size_bytes FROM memcpy WHERE memcpy_id = op_id)
        WHEN 'memset' THEN (SELECT size_bytes FROM memset WHERE memset_id = op_id)
      END
    ) AS op_bytes
  FROM gpu_overlap
  GROUP BY gpu_id, activity, op_kind, name_id
),
named_op AS (
  SELECT
    op.*,
    (
      SELECT op_name
      FROM gpu_overlap
      WHERE gpu_overlap.op_kind = op.op_kind
        AND gpu_overlap.op_id = op.any_op_id
    ) AS op_name
  FROM op
),
most_op AS (
  SELECT *, row_number() OVER (PARTITION BY gpu_id, activity ORDER BY exposed_ns DESC, op_name, op_kind) AS nth
  FROM named_op
),
total AS (
  SELECT gpu_id, sum(op_ns) AS op_ns
  FROM op
  GROUP BY gpu_id
)
SELECT
  gpu.gpu_id,
  gpu.device_id,
  gpu.window_ns,
  gpu.busy_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  100.0 * gpu.compute_ns / nullif(gpu.window_ns, 0) AS compute_pct,
  100.0 * gpu.exposed_communication_ns / nullif(gpu.window_ns, 0) AS exposed_communication_pct,
  100.0 * gpu.exposed_memory_ns / nullif(gpu.window_ns, 0) AS exposed_memory_pct,
  100.0 * gpu.idle_ns / nullif(gpu.window_ns, 0) AS idle_pct,
  most.most AS largest_part,
  most_op.op_name AS top_op,
  most_op.op_ns AS top_op_total_ns,
  most_op.op_bytes AS top_op_size_bytes,
  gpu.communication_ns,
  gpu.memory_ns,
  coalesce(total.op_ns, 0) AS op_ns,
  gpu.start_ns,
  gpu.end_ns
FROM gpu_window AS gpu
LEFT JOIN most
  ON most.gpu_id = gpu.gpu_id
LEFT JOIN total
  ON total.gpu_id = gpu.gpu_id
LEFT JOIN most_op
  ON most_op.gpu_id = gpu.gpu_id
  AND most_op.activity = most.most
  AND most_op.nth = 1
ORDER BY gpu.gpu_id
