/*---
name: gpu_metric_by_step
version: 1
title: Hardware metrics by step
summary: Mean of each hardware metric of each GPU in the time of each step.
why: To see whether a slow step ran at a lower clock or used the GPU less, and whether use is steady.
kind: sum
tags: [gpu, nvtx]
reads: [all_gpu_metric_interval, cuda_gpu, gpu_metric_name, step_window]
requires: [step_window, gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as SM*."}
  - {name: limit, type: int, default: 1000, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 2, doc: "Unit of the mean: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: step, type: int, priority: 0, doc: "Number of the step, from 0 per thread."}
  - {name: mean, type: real, priority: 1, doc: "Mean of the samples, weighted by the time they share with the step; null if no sample does."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of step sampled", priority: 1, doc: "Time of the step that samples of the metric describe, as a share of dur_ns."}
  - {name: dur_ns, type: duration, unit: ns, label: "step time", priority: 1, doc: "Time of the step on the GPU, from the end of the step before."}
  - {name: period_ns, type: duration, unit: ns, label: "period", priority: 3, doc: "Usual time between two samples."}
  - {name: part, type: text, priority: 2, doc: "warm-up, median, steady or tail."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the step on the GPU, on the report's clock."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: step_name, type: text, priority: 3, doc: "Name of the range that marks the step; of its first launch, if steps were found by repetition."}
checks:
  - covered_pct BETWEEN 0 AND 100
when_empty: "no step ran on a GPU whose metrics were sampled"
limits: >-
  A sample describes the whole GPU over one period: everything that ran then counts, and idle time. Steps shorter than
  the period read a mixture with their neighbours. Steps are those of the query steps. Rows come metric by metric.
see_also: [gpu_metric_sum, gpu_metric_by_range, gpu_metric_map, steps, gpu_clocks]
---*/
WITH
series AS MATERIALIZED (
  SELECT DISTINCT series_id, gpu_id, metric_id, metric, unit
  FROM gpu_metric_name
  WHERE metric GLOB :metric
),
described AS MATERIALIZED (
  SELECT series_id, gpu_id, start_ns, end_ns, value, period_ns
  FROM all_gpu_metric_interval
  WHERE series_id IN (SELECT series_id FROM series)
    AND dur_ns > 0
),
-- The metrics of a GPU are sampled together, so one interval stands for all metrics.
sampled AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns, row_number() OVER () AS interval_id
  FROM (SELECT DISTINCT gpu_id, start_ns, end_ns FROM described)
),
period AS MATERIALIZED (
  SELECT described.series_id, series.gpu_id, max(described.period_ns) AS period_ns
  FROM described
  JOIN series
    ON series.series_id = described.series_id
  GROUP BY described.series_id
),
-- A MIG instance is sampled with its whole GPU.
placed AS MATERIALIZED (
  SELECT
    *,
    coalesce((SELECT max(card_id) FROM cuda_gpu WHERE cuda_gpu.gpu_id = win.gpu_id), win.gpu_id) AS card_id,
    row_number() OVER (ORDER BY gpu_id, start_ns, global_tid, step) AS place
  FROM step_window AS win
),
weight AS MATERIALIZED (
  SELECT span_id AS place, by_id AS interval_id, end_ns - start_ns AS weight_ns
  FROM split_spans(
    (SELECT time_spans(card_id, place, start_ns, end_ns) FROM placed),
    (SELECT time_spans(gpu_id, interval_id, start_ns, end_ns) FROM sampled)
  )
  WHERE by_id IS NOT NULL
),
-- One number as the key: it sorts several times faster than two.
weighed AS MATERIALIZED (
  SELECT
    weight.place << 32 | described.series_id AS key,
    sum(1.0 * described.value * weight.weight_ns) AS integral,
    sum(weight.weight_ns) AS covered_ns
  FROM weight
  JOIN sampled
    ON sampled.interval_id = weight.interval_id
  JOIN described
    ON described.gpu_id = sampled.gpu_id
    AND described.start_ns = sampled.start_ns
    AND described.end_ns = sampled.end_ns
  GROUP BY weight.place << 32 | described.series_id
)
SELECT
  series.metric,
  series.unit,
  placed.gpu_id,
  placed.step,
  weighed.integral / nullif(weighed.covered_ns, 0) AS mean,
  100.0 * coalesce(weighed.covered_ns, 0) / nullif(placed.dur_ns, 0) AS covered_pct,
  placed.dur_ns,
  period.period_ns,
  placed.part,
  placed.start_ns,
  placed.pid,
  placed.tid,
  placed.step_name
FROM placed
JOIN period
  ON period.gpu_id = placed.card_id
JOIN series
  ON series.series_id = period.series_id
LEFT JOIN weighed
  ON weighed.key = placed.place << 32 | period.series_id
ORDER BY series.metric_id, placed.place
LIMIT :limit
