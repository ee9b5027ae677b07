/*---
name: range_time_sum
version: 1
title: Time of NVTX ranges
summary: Mean and spread of the CPU and GPU time of NVTX ranges of the given names.
why: To see how long a step or pass takes, how steady it is, and how long the GPU idles in it.
kind: sum
tags: [cuda, nvtx]
reads: []
asks: [range_time]
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
measure (place, measure) AS (
  VALUES
    (1, 'cpu'), (2, 'elapsed'), (3, 'span'), (4, 'busy'), (5, 'idle'), (6, 'unlaunched'), (7, 'queued'), (8, 'gpu')
),
measured AS (
  SELECT
    measure.place,
    measure.measure,
    CASE measure.measure
      WHEN 'cpu' THEN cpu_ns
      WHEN 'elapsed' THEN elapsed_ns
      WHEN 'span' THEN span_ns
      WHEN 'busy' THEN busy_ns
      WHEN 'idle' THEN idle_ns
      WHEN 'unlaunched' THEN unlaunched_ns
      WHEN 'queued' THEN queued_ns
      ELSE gpu_ns
    END AS value_ns,
    op_count,
    launch_count,
    attribution
  FROM range_time
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
  max(attribution) AS attribution
FROM measured
WHERE value_ns IS NOT NULL
GROUP BY place, measure
ORDER BY place, measure
