/*---
name: named_range
version: 3
title: Range with much GPU work
summary: The range of the program with the most GPU work, if it is a part of a step.
why: To say which part of a model a conclusion about kernels belongs to.
kind: info
internal: true
tags: [kernel, nvtx]
reads: [gpu_busy, gpu_window, iteration, kernel, launch, nvtx_projection, nvtx_range_kernel, op_total, step_window]
requires: [gpu_window, kernel, nvtx_range_kernel]
rows_if: (SELECT sum(kernel_count) FROM op_total) <= 200000
params:
  - {name: range_pct, type: real, default: 5, min: 0, max: 100, doc: "Smallest share of the kernels' time, in percent."}
columns:
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Name of the range."}
  - {name: step_ns, type: duration, unit: ns, label: "time per step", priority: 0, doc: "Time of the kernels launched in it, in a step of a GPU; in the whole report without steps."}
  - {name: time_pct, type: percent, unit: percent, label: "% of kernels' time", priority: 1, doc: "The same as a share of all kernels."}
  - {name: lasts_ns, type: duration, unit: ns, label: "lasts", priority: 1, doc: "Mean time of the range on the host, where kernels of other streams delay its own: it waits for its work, which takes half of this or less, and kernels of streams on which its thread launches nothing take half or more. Else null."}
  - {name: others_ns, type: duration, unit: ns, label: "kernels of others", priority: 1, doc: "Of that, mean time in which these kernels of other streams run; else null."}
limits: >-
  Operators of PyTorch do not count, nor calls of NCCL, steps, and ranges with half of the time or more, which are the step
  itself. Work of autograd's threads is outside of the program's ranges.
see_also: [nvtx_kern_sum]
---*/
WITH
total AS MATERIALIZED (
  SELECT sum(dur_ns) AS total_ns
  FROM kernel
),
ranged AS MATERIALIZED (
  SELECT range_name, sum(total_ns) AS range_ns
  FROM nvtx_range_kernel
  WHERE naming = 'short'
    AND range_name IS NOT NULL
    AND NOT (range_name GLOB 'cpu_op:*' OR range_name GLOB 'aten::*' OR range_name GLOB 'autograd::*')
    AND NOT range_name GLOB '*, op_id = *'
    AND NOT (range_name GLOB 'NCCL:*' OR range_name GLOB '*nccl:*' OR range_name GLOB '*ProfilerStep#*')
    AND range_name NOT IN (SELECT range_name FROM iteration WHERE range_name IS NOT NULL)
  GROUP BY range_name
),
stepped AS (
  SELECT gpu_id, count(*) AS step_count
  FROM step_window
  WHERE dur_ns > 0
  GROUP BY gpu_id, pid, tid
),
-- All steps in the scope, also of the warm-up: their kernels count.
step AS (
  SELECT sum(coalesce((SELECT max(step_count) FROM stepped WHERE stepped.gpu_id = gpu.gpu_id), 1)) AS count
  FROM gpu_window AS gpu
  WHERE gpu.window_ns > 0
),
chosen AS MATERIALIZED (
  SELECT
    ranged.range_name,
    ranged.range_ns / step.count AS step_ns,
    100.0 * ranged.range_ns / nullif(total.total_ns, 0) AS time_pct
  FROM ranged
  CROSS JOIN total
  CROSS JOIN step
  WHERE 2 * ranged.range_ns < total.total_ns
    AND 100.0 * ranged.range_ns >= :range_pct * total.total_ns
  ORDER BY ranged.range_ns DESC, ranged.range_name
  LIMIT 1
),
-- Each time of the range, on a single GPU.
span AS MATERIALIZED (
  SELECT
    range.start_ns,
    range.end_ns,
    range.busy_ns,
    range.proj_end_ns,
    range.global_tid
  FROM chosen
  CROSS JOIN nvtx_projection AS range
  WHERE range.range_name = chosen.range_name
    AND range.op_count > 0
    AND (SELECT count(*) FROM gpu_window WHERE window_ns > 0) = 1
),
own_stream AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, context_id, stream_id
  FROM launch
  WHERE global_tid IN (SELECT global_tid FROM span)
),
other AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'stream'
    AND activity = 'compute'
    AND (pid, device_id, context_id, stream_id) NOT IN (
      SELECT pid, device_id, context_id, stream_id
      FROM own_stream
    )
    AND EXISTS (SELECT 1 FROM span)
),
delayed AS MATERIALIZED (
  SELECT lasts_ns, others_ns
  FROM (
    SELECT
      CAST(avg(end_ns - start_ns) AS INTEGER) AS lasts_ns,
      avg(busy_ns) AS busy_ns,
      CAST(
        avg(overlap_ns((SELECT time_set(gpu_id, start_ns, end_ns) FROM other), gpu.gpu_id, start_ns, end_ns)) AS INTEGER
      ) AS others_ns,
      avg(proj_end_ns <= end_ns) AS waits_share
    FROM span
    CROSS JOIN (SELECT gpu_id FROM gpu_window WHERE window_ns > 0) AS gpu
  )
  WHERE waits_share >= 0.9
    AND 2 * busy_ns <= lasts_ns
    AND 2 * others_ns >= lasts_ns
)
SELECT chosen.range_name, chosen.step_ns, chosen.time_pct, delayed.lasts_ns, delayed.others_ns
FROM chosen
LEFT JOIN delayed
  ON true
ORDER BY chosen.range_name
