/*---
name: mfu
version: 1
title: Model FLOPs utilisation
summary: One row per GPU for the report and each iteration, with its share of the peak.
why: >-
  To know what part of the hardware the program uses, of all the time and of the time in which the GPU works. The
  difference is idle time; the rest is slow work.
kind: sum
tags: [gpu, nvtx]
reads: [data_type, gpu_peak, gpu_window, step_window, op_work]
requires: [gpu_window, kernel, op_work]
params:
  - {name: peaks, type: list, doc: "Measured peaks in TFLOP/s, such as bf16=790,fp8=1500. They replace those of gpu_peak."}
  - {name: data_type, type: text, doc: "Element type to assume where the report does not name it, and for parameters x tokens, such as bf16."}
  - {name: parameters, type: real, min: 0, doc: "Parameters of the model, such as 2.7e9. With tokens, they give the FLOPs of an iteration."}
  - {name: tokens, type: real, min: 0, doc: "Tokens of an iteration on all GPUs of the report together; without iterations, of the whole report."}
  - {name: passes, type: real, default: 6, min: 0, doc: "FLOPs per parameter and token: 6 for training, 2 for inference."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine."}
  - {name: iteration, type: int, priority: 0, doc: "Position by start among the iterations of the thread, from 0; null for the whole report."}
  - {name: part, type: text, priority: 1, doc: "warm-up, median, steady or tail, as in steps; all for the whole report. The median iteration is the one in the middle of the steady ones."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 1, doc: "Time of the iteration on the GPU: to the start of the next one. For the whole report: from the first to the last operation."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time of the window in which at least one operation ran."}
  - {name: mfu_pct, type: percent, unit: percent, label: "MFU of window", priority: 1, doc: "FLOPs that are known or given, at the peak of their types, as a share of window_ns; null if nothing is known."}
  - {name: busy_mfu_pct, type: percent, unit: percent, label: "MFU of busy time", priority: 1, doc: "The same as a share of busy_ns."}
  - {name: tflop_per_s, type: real, label: "TFLOP/s", priority: 1, doc: "These FLOPs divided by window_ns, in 10^12 per second."}
  - {name: basis, type: text, priority: 1, doc: "shapes: FLOPs of operators with known work; model: passes x parameters x tokens, as given."}
  - {name: coverage_pct, type: percent, unit: percent, label: "GPU time with known work", priority: 1, doc: "GPU time of operators with known work as a share of all GPU time in the window. With the basis shapes, the rest counts as no work."}
  - {name: flop_count, type: int, unit: count, label: "FLOPs", priority: 3, doc: "FLOPs of the window on this GPU."}
  - {name: forward_flop_count, type: int, unit: count, label: "FLOPs forward", priority: 3, doc: "Known FLOPs outside the backward pass; see op_work.phase."}
  - {name: backward_flop_count, type: int, unit: count, label: "FLOPs backward", priority: 3, doc: "Known FLOPs in the backward pass."}
  - {name: peak_tflop_per_s, type: real, label: "peak TFLOP/s", priority: 2, doc: "Peak of the GPU for the type with the most of these FLOPs; null if unknown."}
  - {name: data_type, type: text, label: "type", priority: 2, doc: "Type with the most of the FLOPs; null if unknown."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the iteration's range in the raw table; null for the whole report."}
checks:
  - window_ns >= busy_ns AND busy_ns >= 0
  - basis IN ('shapes', 'model') AND (mfu_pct IS NULL) >= (flop_count IS NULL)
when_empty: the report has no GPU operations
limits: >-
  With the basis shapes, MFU is a lower bound: operators without known work count as none, so read it with
  coverage_pct, or give parameters and tokens. Recomputed activations count as work, so this is the utilisation of the
  hardware; parameters x tokens is that of the model. Causal attention counts half of a square.
see_also: [op_efficiency, work_coverage, iterations]
---*/
WITH
given AS (
  SELECT
    lower(substr(value, 1, instr(value, '=') - 1)) AS data_type,
    1e12 * substr(value, instr(value, '=') + 1) AS flop_per_s
  FROM json_each(:peaks)
),
assumed AS (
  SELECT data_type
  FROM data_type
  WHERE type_name = lower(:data_type)
),
peak AS MATERIALIZED (
  SELECT
    gpu_peak.gpu_id,
    gpu_peak.data_type,
    coalesce(given.flop_per_s, gpu_peak.matmul_flop_per_s) AS matmul_flop_per_s,
    gpu_peak.vector_flop_per_s
  FROM gpu_peak
  LEFT JOIN given
    ON given.data_type = gpu_peak.data_type
),
slot AS MATERIALIZED (
  SELECT
    gpu_id,
    step AS iteration,
    part,
    start_ns,
    end_ns,
    range_id,
    row_number() OVER (PARTITION BY gpu_id ORDER BY start_ns, end_ns, range_id) AS nth,
    count(*) OVER (PARTITION BY step, global_tid) AS gpu_count
  FROM step_window
),
work AS (
  SELECT
    gpu_id,
    start_ns,
    gpu_ns,
    kind,
    coalesce(data_type, iif(kind IS NULL, NULL, (SELECT data_type FROM assumed))) AS data_type,
    flop_count,
    phase
  FROM op_work
),
-- Slots and calls in order of time: for each call, the number of slots of its GPU that have begun.
placed AS (
  SELECT
    *,
    sum(is_slot) OVER (PARTITION BY gpu_id ORDER BY start_ns, is_slot DESC ROWS UNBOUNDED PRECEDING) AS nth
  FROM (
    SELECT 0 AS is_slot, work.*
    FROM work
    UNION ALL
    SELECT 1, gpu_id, start_ns, NULL, NULL, NULL, NULL, NULL
    FROM slot
  )
),
-- The calls of each slot, and once more those of the whole report (nth 0).
counted AS (
  SELECT placed.gpu_id, slot.nth, placed.gpu_ns, placed.kind, placed.data_type, placed.flop_count, placed.phase
  FROM placed
  JOIN slot
    ON slot.gpu_id = placed.gpu_id
    AND slot.nth = placed.nth
  WHERE placed.is_slot = 0
    AND placed.start_ns < slot.end_ns
  UNION ALL
  SELECT gpu_id, 0, gpu_ns, kind, data_type, flop_count, phase
  FROM work
),
by_type AS (
  SELECT
    counted.gpu_id,
    counted.nth,
    counted.data_type,
    sum(counted.flop_count) AS flop_count,
    sum(iif(counted.phase = 'backward', counted.flop_count, 0)) AS backward_flop_count,
    sum(counted.gpu_ns) AS gpu_ns,
    sum(iif(counted.flop_count IS NULL, 0, counted.gpu_ns)) AS known_ns,
    sum(
      1e9 * counted.flop_count
      / iif(counted.kind IN ('matmul', 'convolution', 'attention'), peak.matmul_flop_per_s, peak.vector_flop_per_s)
    ) AS peak_ns
  FROM counted
  LEFT JOIN peak
    ON peak.gpu_id = counted.gpu_id
    AND peak.data_type = counted.data_type
  GROUP BY counted.gpu_id, counted.nth, counted.data_type
),
largest AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id, nth ORDER BY flop_count DESC, data_type) AS place
  FROM by_type
),
known AS (
  SELECT
    largest.gpu_id,
    largest.nth,
    coalesce(
      iif(:parameters IS NULL, NULL, (SELECT data_type FROM assumed)),
      max(iif(place = 1, data_type, NULL))
    ) AS data_type,
    sum(flop_count) AS flop_count,
    sum(backward_flop_count) AS backward_flop_count,
    sum(gpu_ns) AS gpu_ns,
    sum(known_ns) AS known_ns,
    sum(peak_ns) AS peak_ns
  FROM largest
  GROUP BY largest.gpu_id, largest.nth
),
timed AS (
  SELECT
    slot.gpu_id,
    slot.nth,
    slot.iteration,
    slot.part,
    slot.range_id,
    slot.gpu_count,
    gpu_window.window_ns,
    gpu_window.busy_ns
  FROM slot
  CROSS JOIN gpu_window
  WHERE gpu_window.start_ns = slot.start_ns
    AND gpu_window.end_ns = slot.end_ns
    AND gpu_window.gpu_id = slot.gpu_id
  UNION ALL
  SELECT gpu_id, 0, NULL, 'all', NULL, count(*) OVER (), window_ns, busy_ns
  FROM gpu_window
),
modelled AS (
  SELECT
    timed.*,
    known.data_type,
    known.flop_count AS known_flop_count,
    known.backward_flop_count,
    known.gpu_ns,
    known.known_ns,
    known.peak_ns,
    -- Of the whole report: the iterations that it has.
    CAST(
      :passes * :parameters * :tokens / timed.gpu_count
      * iif(timed.nth = 0, max((SELECT count(*) FROM slot WHERE slot.gpu_id = timed.gpu_id), 1), 1) AS INTEGER
    ) AS model_flop_count,
    peak.matmul_flop_per_s
  FROM timed
  LEFT JOIN known
    ON known.gpu_id = timed.gpu_id
    AND known.nth = timed.nth
  LEFT JOIN peak
    ON peak.gpu_id = timed.gpu_id
    AND peak.data_type = known.data_type
)
SELECT
  gpu_id,
  iteration,
  part,
  window_ns,
  busy_ns,
  100.0 * iif(model_flop_count IS NULL, peak_ns, 1e9 * model_flop_count / matmul_flop_per_s) / nullif(window_ns, 0)
    AS mfu_pct,
  100.0 * iif(model_flop_count IS NULL, peak_ns, 1e9 * model_flop_count / matmul_flop_per_s) / nullif(busy_ns, 0)
    AS busy_mfu_pct,
  1e-3 * coalesce(model_flop_count, known_flop_count) / nullif(window_ns, 0) AS tflop_per_s,
  iif(model_flop_count IS NULL, 'shapes', 'model') AS basis,
  100.0 * known_ns / nullif(gpu_ns, 0) AS coverage_pct,
  coalesce(model_flop_count, known_flop_count) AS flop_count,
  known_flop_count - backward_flop_count AS forward_flop_count,
  backward_flop_count,
  1e-12 * matmul_flop_per_s AS peak_tflop_per_s,
  data_type,
  range_id
FROM modelled
ORDER BY gpu_id, nth, range_id
