/*---
name: gpu_time
version: 1
title: What each GPU's time went to
summary: Each GPU's time - compute, exposed communication, exposed copies, idle.
why: To see what fills a GPU's time before looking at kernels, in parts that add up to the whole.
kind: sum
tags: [cuda, gpu]
reads: [gpu_overlap, gpu_window, memcpy, memset]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside the first process that uses it."}
  - {name: window_ns, type: duration, unit: ns, doc: "What --time or --window names, else from the GPU's first operation to its last."}
  - {name: compute_ns, type: duration, unit: ns, doc: "A kernel that computes ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "A communication kernel ran and none that computes."}
  - {name: exposed_memory_ns, type: duration, unit: ns, doc: "A copy or fill ran and no kernel."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Nothing ran: what is left of window_ns."}
  - {name: compute_pct, type: percent, unit: percent, doc: "compute_ns in window_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, doc: "exposed_communication_ns in window_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, doc: "exposed_memory_ns in window_ns."}
  - {name: idle_pct, type: percent, unit: percent, doc: "idle_ns in window_ns."}
  - {name: largest_part, type: text, doc: "The largest of the four parts: compute, communication, memory or idle; of equals the first of these. Null if window_ns is 0."}
  - {name: top_op, type: text, doc: "Operation, by name, with the most exposed time in that part; null for idle, and where largest_part is."}
  - {name: top_op_total_ns, type: duration, unit: ns, doc: "Sum of the lengths of that operation in the window; null for idle."}
  - {name: top_op_size_bytes, type: bytes, unit: bytes, doc: "What that operation copied or filled; null for kernels and idle."}
  - {name: busy_ns, type: duration, unit: ns, doc: "At least one operation ran: the first three parts."}
  - {name: communication_ns, type: duration, unit: ns, doc: "A communication kernel ran, hidden behind compute or not."}
  - {name: memory_ns, type: duration, unit: ns, doc: "A copy or fill ran, hidden or not."}
  - {name: op_ns, type: duration, unit: ns, doc: "Sum of the lengths of operations in the window: above busy_ns as far as they overlap."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Window began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Window ended."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
  - compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
  - idle_ns >= 0 AND exposed_communication_ns <= communication_ns AND exposed_memory_ns <= memory_ns
  - op_ns >= busy_ns
limits: >-
  Says when the GPU ran something, not how well: a kernel on one of its multiprocessors fills it here. A CUDA graph that
  was traced as a whole is compute, whatever it holds. Copies count on the GPU that carried them out. With --device,
  --stream, --process or --nvtx what is out of the scope does not run, and idle grows by it.
see_also: [gpu_time_by_range, comm_overlap, gpu_idle_causes, stream_concurrency, gpu_gaps]
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
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
op AS (
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
  LIMIT -1
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
  gpu.busy_ns,
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
