/*---
name: range_time_sum
version: 1
title: Time of NVTX ranges
summary: CPU and GPU time of NVTX ranges of some names - mean and spread.
why: To say how long a step or pass takes, how steady it is, and how much of it the GPU idles.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_projection, nvtx_range, scope]
requires: [nvtx_projection]
params:
  - {name: ranges, type: list, doc: "GLOBs over the range's name, its text or its folded name, or a JSON array of them; by default every range."}
columns:
  - {name: measure, type: text, doc: "cpu, elapsed, span, busy, idle, unlaunched, queued or gpu: the columns of range_time of these names."}
  - {name: range_count, type: int, unit: count, doc: "Ranges that have it: those without GPU work have no span, busy, idle, unlaunched and queued."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean over these ranges."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation; 0 for one range."}
  - {name: cv_pct, type: percent, unit: percent, doc: "Coefficient of variation: stddev_ns in mean_ns; null if the mean is 0."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median; the mean of the two middle ones for an even count."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside these ranges."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - range_count >= 1
  - mean_ns BETWEEN min_ns AND max_ns AND median_ns BETWEEN min_ns AND max_ns
limits: >-
  A range that lies within another of these names is not counted; ranges that merely cross are, and what both hold then
  counts for the later one in unlaunched_ns. Other work may run on the GPU while these ranges idle. What other threads
  launch, as PyTorch does in the backward pass, is in no range of the main thread unless --attribute process says so.
  Unless a range ends with a synchronisation, the GPU works on after it: then elapsed_ns is longer than cpu_ns.
  Where earlier work still runs then, that of the next range waits for it: queued_ns is part of its elapsed_ns. Ranges
  that never ended are left out.
  What does not differ between ranges has the deviation 0; the spread of one range is not known, and 0 here.
see_also: [range_time, iterations, gpu_time_by_range, range_names]
---*/
WITH
wanted AS (
  SELECT name_id
  FROM nvtx_name
  WHERE :ranges IS NULL
    OR EXISTS (
      SELECT 1
      FROM json_each(:ranges)
      WHERE range_name GLOB value
        OR range_text GLOB value
        OR layer_name GLOB value
    )
  LIMIT -1
),
owned AS (
  SELECT range.*, iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
  WHERE range.range_id NOT IN (SELECT range_id FROM nvtx_range WHERE is_open)
),
reached AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY owner
      ORDER BY start_ns, end_ns DESC, range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM owned
),
outermost AS (
  SELECT *
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
  LIMIT -1
),
-- Ranges and launches in order of time: a launch belongs to the range that began last, if that has not ended.
event AS (
  SELECT owner, start_ns AS at_ns, 0 AS is_op, NULL AS op_start_ns, NULL AS op_end_ns, NULL AS call_end_ns
  FROM outermost
  UNION ALL
  SELECT
    iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid),
    call_start_ns,
    1,
    start_ns,
    end_ns,
    call_end_ns
  FROM nvtx_op
  WHERE call_id IS NOT NULL
),
launched AS (
  SELECT
    *,
    max(iif(is_op, NULL, at_ns)) OVER (
      PARTITION BY owner
      ORDER BY at_ns, is_op
      ROWS UNBOUNDED PRECEDING
    ) AS range_start_ns
  FROM event
),
waiting AS (
  SELECT
    launched.owner,
    launched.range_start_ns,
    launched.op_start_ns,
    launched.call_end_ns,
    max(launched.op_end_ns) OVER (
      PARTITION BY launched.owner, launched.range_start_ns
      ORDER BY launched.op_start_ns, launched.op_end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS free_ns
  FROM launched
  JOIN outermost
    ON outermost.owner = launched.owner
    AND outermost.start_ns = launched.range_start_ns
  WHERE launched.is_op
    AND launched.call_end_ns <= outermost.end_ns
),
-- Nothing ran from free_ns to op_start_ns; until call_end_ns there was nothing to run.
waited AS (
  SELECT
    owner,
    range_start_ns,
    sum(iif(op_start_ns > free_ns, max(min(op_start_ns, call_end_ns) - free_ns, 0), 0)) AS unlaunched_ns,
    max(min(op_start_ns) - min(call_end_ns), 0) AS queued_ns
  FROM waiting
  GROUP BY owner, range_start_ns
  LIMIT -1
),
instance AS (
  SELECT
    outermost.*,
    max(end_ns, coalesce(proj_end_ns, end_ns)) - start_ns AS elapsed_ns,
    proj_end_ns - proj_start_ns AS span_ns,
    iif(op_count > 0, coalesce(waited.unlaunched_ns, 0), NULL) AS unlaunched_ns,
    iif(op_count > 0, coalesce(waited.queued_ns, 0), NULL) AS queued_ns
  FROM outermost
  LEFT JOIN waited
    ON waited.owner = outermost.owner
    AND waited.range_start_ns = outermost.start_ns
),
measured (place, measure, value_ns, op_count, launch_count) AS (
  SELECT 1, 'cpu', dur_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 2, 'elapsed', elapsed_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 3, 'span', span_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 4, 'busy', busy_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 5, 'idle', span_ns - busy_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 6, 'unlaunched', unlaunched_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 7, 'queued', queued_ns, op_count, launch_count FROM instance
  UNION ALL
  SELECT 8, 'gpu', gpu_ns, op_count, launch_count FROM instance
)
SELECT
  measure,
  count(*) AS range_count,
  avg(value_ns) AS mean_ns,
  stddev(value_ns) AS stddev_ns,
  100.0 * stddev(value_ns) / nullif(avg(value_ns), 0) AS cv_pct,
  min(value_ns) AS min_ns,
  median(value_ns) AS median_ns,
  max(value_ns) AS max_ns,
  sum(value_ns) AS total_ns,
  sum(op_count) AS op_count,
  sum(launch_count) AS launch_count,
  (SELECT attribution FROM scope) AS attribution
FROM measured
WHERE value_ns IS NOT NULL
GROUP BY place, measure
ORDER BY place, measure
