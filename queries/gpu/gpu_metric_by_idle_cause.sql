/*---
name: gpu_metric_by_idle_cause
version: 1
title: Hardware metrics by cause of idle time
summary: Mean of each hardware metric while a GPU idles, by cause.
why: To see what the clocks and links of a GPU do while it waits.
kind: sum
tags: [gpu]
reads: [all_gpu_metric_interval, cuda_gpu, gpu_metric_name, idle_part]
requires: [idle_part, gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as PCIe*."}
  - {name: at_least, type: duration, default: 0ns, min: 0, doc: "Shortest gap to count."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine."}
  - {name: cause, type: text, priority: 0, doc: "What the launching thread did in the meantime, as in gpu_idle_cause_sum."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 2, doc: "Unit of the mean: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: mean, type: real, priority: 1, doc: "Mean of the samples, weighted by the time they share with the idle time; null if no sample does."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of idle time sampled", priority: 1, doc: "Idle time of this cause that samples of the metric describe, as a share of total_ns."}
  - {name: short_pct, type: percent, unit: percent, label: "% of time in short gaps", priority: 1, doc: "Idle time in gaps shorter than the period, as a share of total_ns: their samples also describe the work before and after them."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 1, doc: "Sum of this cause over all gaps of the GPU."}
  - {name: period_ns, type: duration, unit: ns, label: "period", priority: 3, doc: "Usual time between two samples of the metric."}
checks:
  - covered_pct BETWEEN 0 AND 100 AND short_pct BETWEEN 0 AND 100
  - total_ns > 0
when_empty: "no GPU whose metrics were sampled had a gap of the length to count"
limits: >-
  A sample describes the whole GPU over one period. A gap shorter than that reads a mixture with the work around it:
  short_pct is the share of these gaps, and -p at_least=1ms leaves them out. Causes have the limits of gpu_idle_causes.
see_also: [gpu_idle_cause_sum, gpu_metric_sum, gpu_metric_by_kernel]
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
idle AS MATERIALIZED (
  SELECT
    part.gpu_id,
    coalesce((SELECT max(card_id) FROM cuda_gpu WHERE cuda_gpu.gpu_id = part.gpu_id), part.gpu_id) AS card_id,
    part.part AS cause,
    part.start_ns,
    part.end_ns,
    part.gap_ns
  FROM idle_part AS part
  WHERE part.gap_ns >= :at_least
    AND part.dur_ns > 0
),
grouped AS MATERIALIZED (
  SELECT
    idle.gpu_id,
    idle.card_id,
    idle.cause,
    row_number() OVER (ORDER BY idle.gpu_id, sum(idle.end_ns - idle.start_ns) DESC, idle.cause) AS place,
    sum(idle.end_ns - idle.start_ns) AS total_ns,
    sum(iif(idle.gap_ns < period.period_ns, idle.end_ns - idle.start_ns, 0)) AS short_ns
  FROM idle
  JOIN (SELECT gpu_id, max(period_ns) AS period_ns FROM period GROUP BY gpu_id) AS period
    ON period.gpu_id = idle.card_id
  GROUP BY idle.gpu_id, idle.cause
),
weight AS MATERIALIZED (
  SELECT span_id AS place, by_id AS interval_id, sum(end_ns - start_ns) AS weight_ns
  FROM split_spans(
    (
      SELECT time_spans(idle.card_id, grouped.place, idle.start_ns, idle.end_ns)
      FROM idle
      JOIN grouped
        ON grouped.gpu_id = idle.gpu_id
        AND grouped.cause = idle.cause
    ),
    (SELECT time_spans(gpu_id, interval_id, start_ns, end_ns) FROM sampled)
  )
  WHERE by_id IS NOT NULL
  GROUP BY span_id, by_id
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
  grouped.gpu_id,
  grouped.cause,
  series.metric,
  series.unit,
  weighed.integral / nullif(weighed.covered_ns, 0) AS mean,
  100.0 * coalesce(weighed.covered_ns, 0) / nullif(grouped.total_ns, 0) AS covered_pct,
  100.0 * grouped.short_ns / nullif(grouped.total_ns, 0) AS short_pct,
  grouped.total_ns,
  period.period_ns
FROM grouped
JOIN period
  ON period.gpu_id = grouped.card_id
JOIN series
  ON series.series_id = period.series_id
LEFT JOIN weighed
  ON weighed.key = grouped.place << 32 | period.series_id
ORDER BY grouped.place, series.metric_id
