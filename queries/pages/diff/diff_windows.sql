/*---
name: diff_windows
version: 4
title: Windows to compare
summary: What a GPU did in each step, or in each twentieth of its operations.
why: To compare the time of two runs as a whole, and to know how much it varies within each.
kind: trace
tags: [cuda, gpu, nvtx]
internal: true
reads: [gpu_overlap, gpu_window, stalled_step, step_window]
requires: [gpu_window]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether a row is a step, if the report has any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
columns:
  - {name: kind, type: text, priority: 0, doc: "step, stalled: a step of a stall that happened once, as in stalled_step, or piece: a twentieth of the operations of a GPU, in order of their start."}
  - {name: place, type: int, priority: 0, doc: "Number of the step in its thread, or of the piece, from 0."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: window_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Length: the sum of the next four columns."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 3, doc: "Same as window_ns."}
  - {name: global_tid, type: id, priority: 3, doc: "Thread of the step, unique across hosts and VMs; null for a piece."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the step's range in the raw table; null for a piece, and for a step found by repetition."}
  - {name: layer_name, type: text, label: "step", doc: "Name of the steps, each number replaced by *; null for a piece."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
  - kind IN ('step', 'stalled', 'piece') AND place >= 0
when_empty: "no GPU operation was recorded"
limits: >-
  A piece ends where the next begins, so its idle time is that after its operations. Pieces of two reports hold the same
  work only if both ran the same operations in the same order. A CUDA graph traced as a whole is not an operation here.
see_also: [steps, gpu_time, diff_gpu_work]
---*/
WITH
counted AS MATERIALIZED (
  SELECT
    gpu_id,
    global_tid,
    step,
    start_ns,
    end_ns,
    range_id,
    layer_name,
    (global_tid, step) IN (SELECT global_tid, step FROM stalled_step) AS is_stalled
  FROM step_window
  WHERE :per_iteration
    AND iif(:skip IS NULL, part IN ('median', 'steady'), step >= :skip)
),
op AS (
  SELECT
    gpu_id,
    start_ns,
    row_number() OVER (PARTITION BY gpu_id ORDER BY start_ns, op_kind, op_id) - 1 AS nth,
    count(*) OVER (PARTITION BY gpu_id) AS op_count
  FROM gpu_overlap
  WHERE NOT EXISTS (SELECT 1 FROM counted)
),
border AS MATERIALIZED (
  SELECT gpu_id, nth * 20 / op_count AS place, min(start_ns) AS start_ns
  FROM op
  GROUP BY gpu_id, nth * 20 / op_count
),
whole AS MATERIALIZED (
  SELECT gpu_id, end_ns
  FROM gpu_window
),
piece AS (
  SELECT
    border.gpu_id,
    border.place,
    border.start_ns,
    coalesce(
      lead(border.start_ns) OVER (PARTITION BY border.gpu_id ORDER BY border.place),
      whole.end_ns
    ) AS end_ns
  FROM border
  JOIN whole
    ON whole.gpu_id = border.gpu_id
),
part AS (
  SELECT
    iif(is_stalled, 'stalled', 'step') AS kind,
    step AS place,
    gpu_id,
    global_tid,
    start_ns,
    end_ns,
    range_id,
    layer_name
  FROM counted
  UNION ALL
  SELECT 'piece', place, gpu_id, NULL, start_ns, end_ns, NULL, NULL
  FROM piece
  WHERE end_ns > start_ns
)
SELECT
  part.kind,
  part.place,
  part.gpu_id,
  gpu.window_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  gpu.start_ns,
  gpu.window_ns AS dur_ns,
  part.global_tid,
  part.range_id,
  part.layer_name
FROM part
CROSS JOIN gpu_window AS gpu
WHERE gpu.gpu_id = part.gpu_id
  AND gpu.start_ns = part.start_ns
  AND gpu.end_ns = part.end_ns
  AND gpu.window_ns > 0
ORDER BY part.gpu_id, part.global_tid, part.place
