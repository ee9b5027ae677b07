/*---
name: gpu_metric_sum
version: 1
title: Hardware metrics of the GPUs
summary: Mean, smallest and largest value of each hardware metric of each GPU.
why: To see how well the GPUs are used (SMs, tensor cores, memory, links), and what was sampled.
kind: sum
tags: [gpu]
reads: [gpu_metric_interval, gpu_metric_name, scope]
requires: [gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as SM*."}
  - {name: gpu, type: int, min: 0, doc: "Number of the GPU. Default: all GPUs."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 1, doc: "Unit of the values: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: mean, type: real, priority: 1, doc: "Mean, weighted by the time that each sample describes; null if there is none."}
  - {name: min, type: real, priority: 1, doc: "Smallest sample."}
  - {name: median, type: real, priority: 2, doc: "Middle sample; each counts the same."}
  - {name: max, type: real, priority: 1, doc: "Largest sample."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of time sampled", priority: 1, doc: "covered_ns as a share of the time from the first sample to the last, cut to --time."}
  - {name: sample_count, type: int, unit: count, label: "samples", priority: 2, doc: "Samples that describe a part of this time."}
  - {name: period_ns, type: duration, unit: ns, label: "period", priority: 2, doc: "Usual time between two samples; null for a single sample."}
  - {name: hole_count, type: int, unit: count, label: "holes", priority: 2, doc: "Times without data between two samples: longer than 1.5 periods."}
  - {name: hole_ns, type: duration, unit: ns, label: "in holes", priority: 3, doc: "Sum of their lengths."}
  - {name: mended_count, type: int, unit: count, label: "mended samples", priority: 3, doc: "Samples that had overflowed 32 bits, and were mended; see gpu_metric_interval."}
  - {name: covered_ns, type: duration, unit: ns, label: "sampled", priority: 3, doc: "Time that the samples describe."}
  - {name: start_ns, type: timestamp, unit: ns, label: "from", priority: 3, doc: "Start of the time of the first sample, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, label: "until", priority: 3, doc: "Time of the last sample."}
checks:
  - sample_count >= 1 AND min <= max
  - covered_ns >= 0 AND hole_ns >= 0
when_empty: "no metric of this name was sampled"
limits: >-
  The time is that of the sampling, which includes start-up and idle time: --time or --steady takes a part. A sample is a
  mean over its period, so short peaks are lower than they were. Counts, such as requests, are those of a sample,
  not of a second. Metrics count the work of all processes on the GPU. A hole that --time cuts counts in full.
see_also: [gpu_metric_map, gpu_metric_by_kernel, gpu_metric_by_range, gpu_metric_by_step, gpu_metric_by_idle_cause, gpu_clocks]
---*/
WITH
series AS MATERIALIZED (
  SELECT DISTINCT series_id, gpu_id, metric_id, metric, unit
  FROM gpu_metric_name
  WHERE metric GLOB :metric
    AND (:gpu IS NULL OR gpu_id = :gpu)
),
cut AS (
  SELECT
    described.series_id,
    described.value,
    described.period_ns,
    described.hole_ns,
    described.is_mended,
    max(described.start_ns, coalesce(of_scope.start_ns, described.start_ns)) AS start_ns,
    min(described.end_ns, coalesce(of_scope.end_ns, described.end_ns)) AS end_ns
  FROM gpu_metric_interval AS described
  CROSS JOIN scope AS of_scope
  WHERE described.series_id IN (SELECT series_id FROM series)
),
summed AS (
  SELECT
    series_id,
    sum(1.0 * value * (end_ns - start_ns)) AS integral,
    sum(end_ns - start_ns) AS covered_ns,
    min(value) AS min_value,
    median(value) AS median_value,
    max(value) AS max_value,
    count(*) AS sample_count,
    max(period_ns) AS period_ns,
    sum(hole_ns > 0) AS hole_count,
    sum(hole_ns) AS hole_ns,
    sum(is_mended) AS mended_count,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM cut
  GROUP BY series_id
)
SELECT
  series.gpu_id,
  series.metric,
  series.unit,
  summed.integral / nullif(summed.covered_ns, 0) AS mean,
  summed.min_value AS min,
  summed.median_value AS median,
  summed.max_value AS max,
  100.0 * summed.covered_ns / nullif(summed.end_ns - summed.start_ns, 0) AS covered_pct,
  summed.sample_count,
  summed.period_ns,
  summed.hole_count,
  summed.hole_ns,
  summed.mended_count,
  summed.covered_ns,
  summed.start_ns,
  summed.end_ns
FROM summed
JOIN series
  ON series.series_id = summed.series_id
ORDER BY series.gpu_id, series.metric_id
