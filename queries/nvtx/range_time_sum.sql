/*---
name: range_time_sum
version: 1
title: Time of NVTX ranges
summary: Mean and spread of the CPU and GPU time of NVTX ranges of the given names.
why: To see how long a step or pass takes, how steady it is, and how long the GPU idles in it.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_projection, nvtx_range, scope]
requires: [nvtx_projection]
params:
  - {name: ranges, type: list, doc: "GLOB patterns for the range name, with or without its domain, or for its folded name; JSON array or comma-separated. Default: all ranges."}
columns:
  - {name: measure, type: text, priority: 0, doc: "What was measured: cpu, elapsed, span, busy, idle, unlaunched, queued or gpu. Each is the column of range_time with that name; idle is the time of gaps in own work."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges that have the measure. Ranges without GPU work have no span, busy, idle, unlaunched and queued."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean over the ranges."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation; 0 for one range."}
  - {name: cv_pct, type: percent, unit: percent, label: "stddev % of mean", priority: 1, doc: "Coefficient of variation, stddev_ns as a share of mean_ns; null if the mean is 0."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest time."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median time; the mean of the two middle values if the count is even."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest time."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum over the ranges."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 3, doc: "GPU operations launched inside the ranges."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - range_count >= 1
  - mean_ns BETWEEN min_ns AND max_ns AND median_ns BETWEEN min_ns AND max_ns
when_empty: "no range that ended matches: range_names lists the names, and -p ranges=GLOB takes one"
limits: >-
  A range inside another range of these names is not counted. Ranges that overlap without nesting are; work inside both
  counts for the later one in unlaunched_ns. While these ranges idle, other work can run on the GPU. Work that other
  threads launch, such as PyTorch's backward pass, is not counted in ranges of the main thread. Give --attribute process
  to count it. Unless a range ends with a synchronisation, the GPU works on after its end, so elapsed_ns is longer than
  cpu_ns. If earlier work still runs then, the work of the next range waits for it; this wait is queued_ns, a part of
  elapsed_ns. Ranges that never ended are left out. The standard deviation of a single range is unknown, and shown as 0.
see_also: [range_time, iterations, gpu_time_by_range, range_names]
---*/
WITH
wanted AS MATERIALIZED (
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
),
open AS MATERIALIZED (
  SELECT range_id
  FROM nvtx_range
  WHERE is_open
),
owned AS (
  SELECT range.*, iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
  LEFT JOIN open
    ON open.range_id = range.range_id
  LEFT JOIN open AS around
    ON around.range_id = range.parent_id
  -- If all ranges are wanted, only those outside others are outermost.
  WHERE open.range_id IS NULL
    AND (:ranges IS NOT NULL OR range.parent_id IS NULL OR around.range_id IS NOT NULL)
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
outermost AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY owner ORDER BY start_ns) - 1 AS nth
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
),
place AS MATERIALIZED (
  -- A call may end when its range ends.
  SELECT time_places(owner, start_ns, end_ns + 1) AS of_owner
  FROM outermost
),
-- A launch belongs to the range that started last, if it has not ended.
waiting AS (
  SELECT
    outermost.range_id,
    op.start_ns AS op_start_ns,
    op.call_end_ns,
    max(op.end_ns) OVER (
      PARTITION BY outermost.range_id
      ORDER BY op.start_ns, op.end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS free_ns
  FROM (
    SELECT
      start_ns,
      end_ns,
      call_start_ns,
      call_end_ns,
      iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
    FROM nvtx_op
    WHERE call_id IS NOT NULL
  ) AS op
  JOIN outermost
    ON outermost.owner = op.owner
    AND outermost.nth = place_of((SELECT of_owner FROM place), op.owner, op.call_start_ns)
  WHERE op.call_end_ns <= outermost.end_ns
),
-- The GPU idles from free_ns to op_start_ns. Until call_end_ns, the next operation was not launched yet.
waited AS MATERIALIZED (
  SELECT
    range_id,
    sum(iif(op_start_ns > free_ns, max(min(op_start_ns, call_end_ns) - free_ns, 0), 0)) AS unlaunched_ns,
    max(min(op_start_ns) - min(call_end_ns), 0) AS queued_ns
  FROM waiting
  GROUP BY range_id
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
    ON waited.range_id = outermost.range_id
),
measure (place, measure) AS (
  VALUES
    (1, 'cpu'), (2, 'elapsed'), (3, 'span'), (4, 'busy'), (5, 'idle'), (6, 'unlaunched'), (7, 'queued'), (8, 'gpu')
),
measured AS (
  SELECT
    measure.place,
    measure.measure,
    CASE measure.measure
      WHEN 'cpu' THEN instance.dur_ns
      WHEN 'elapsed' THEN instance.elapsed_ns
      WHEN 'span' THEN instance.span_ns
      WHEN 'busy' THEN instance.busy_ns
      WHEN 'idle' THEN instance.span_ns - instance.busy_ns
      WHEN 'unlaunched' THEN instance.unlaunched_ns
      WHEN 'queued' THEN instance.queued_ns
      ELSE instance.gpu_ns
    END AS value_ns,
    instance.op_count,
    instance.launch_count
  FROM instance
  CROSS JOIN measure
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
