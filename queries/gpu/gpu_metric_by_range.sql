/*---
name: gpu_metric_by_range
version: 1
title: Hardware metrics by NVTX range
summary: Mean of each hardware metric in the time of NVTX ranges of one name or path.
why: To see which layer, phase or step uses the SMs, the tensor cores, the memory or the links badly.
kind: sum
tags: [gpu, nvtx]
reads: [all_gpu_metric_interval, cuda_gpu, gpu_metric_name, nvtx_name, nvtx_path, nvtx_projection, process_device, scope]
requires: [nvtx_projection, gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as SM*."}
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name."}
  - {name: by, type: enum, values: [folded, name, path], default: folded, doc: "Groups: ranges of the same folded name, of the same name, or of the same path of names."}
  - {name: span, type: enum, values: [projected, cpu], default: projected, doc: "Time of a range: projected is the time from its first GPU operation to its last; cpu is its own time on the CPU."}
  - {name: per_gpu, type: bool, default: false, doc: "One row for each GPU; otherwise the GPUs together."}
  - {name: top, type: int, default: 20, min: -1, doc: "Number of groups, those with the most time; -1 takes all."}
columns:
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 2, doc: "Unit of the mean: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: mean, type: real, priority: 1, doc: "Mean of the samples, weighted by the time they share with the ranges; null if no sample does."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of range time sampled", priority: 1, doc: "Time of the ranges that samples of the metric describe, as a share of total_ns."}
  - {name: short_pct, type: percent, unit: percent, label: "% of time in short ranges", priority: 2, doc: "Time of ranges shorter than the period, as a share of total_ns: their samples also describe what ran before and after them."}
  - {name: total_ns, type: duration, unit: ns, label: "range time", priority: 1, doc: "Sum of the times of the ranges; for each GPU that their process uses."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 2, doc: "Number of ranges; each counts for each GPU that its process uses."}
  - {name: period_ns, type: duration, unit: ns, label: "period", priority: 3, doc: "Usual time between two samples; the longest of the GPUs."}
  - {name: gpu_id, type: id, label: "GPU", priority: 2, doc: "Number of the GPU on its machine; null without per_gpu."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Folded name, name or path, as by says; null for a range without a name."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - covered_pct BETWEEN 0 AND 100 AND short_pct BETWEEN 0 AND 100
  - range_count >= 1
when_empty: >-
  no matching range launched work on a sampled GPU: range_names lists the names, and -p span=cpu needs no GPU work
limits: >-
  A sample describes the whole GPU over one period: everything that ran then counts, from any range or process, and idle
  time. Ranges shorter than the period read a mixture, and short_pct says how many. A process that uses several GPUs
  counts on each, also if the range used only one. Nested ranges of one group, and ranges of several threads, count the
  same time twice. Ranges that --time cuts count in full.
see_also: [gpu_metric_sum, gpu_metric_by_kernel, gpu_metric_by_step, gpu_time_by_range]
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
used AS MATERIALIZED (
  SELECT DISTINCT
    place.pid,
    coalesce((SELECT max(card_id) FROM cuda_gpu WHERE cuda_gpu.gpu_id = place.gpu_id), place.gpu_id) AS gpu_id
  FROM process_device AS place
),
named AS MATERIALIZED (
  SELECT name_id, range_name, layer_name, dense_rank() OVER (ORDER BY layer_name) AS layer
  FROM nvtx_name
  WHERE layer_name GLOB :range
    OR range_name GLOB :range
    OR range_text GLOB :range
    OR range_text IS NULL AND :range = '*'
),
instance AS MATERIALIZED (
  SELECT
    CASE :by WHEN 'path' THEN range.path_id WHEN 'name' THEN range.name_id ELSE named.layer END AS group_id,
    used.gpu_id,
    iif(:span = 'cpu', range.start_ns, range.proj_start_ns) AS start_ns,
    iif(:span = 'cpu', range.end_ns, range.proj_end_ns) AS end_ns
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
  JOIN used
    ON used.pid = range.pid
  WHERE used.gpu_id IN (SELECT gpu_id FROM period)
    AND (:span = 'cpu' OR range.proj_start_ns IS NOT NULL)
),
top_group AS MATERIALIZED (
  SELECT group_id, row_number() OVER (ORDER BY sum(end_ns - start_ns) DESC, group_id) AS place
  FROM instance
  GROUP BY group_id
  ORDER BY place
  LIMIT :top
),
folded AS MATERIALIZED (
  SELECT DISTINCT layer, layer_name
  FROM named
),
labelled AS MATERIALIZED (
  SELECT
    top_group.place,
    CASE :by
      WHEN 'path' THEN (SELECT path FROM nvtx_path WHERE path_id = top_group.group_id)
      WHEN 'name' THEN (SELECT range_name FROM nvtx_name WHERE name_id = top_group.group_id)
      ELSE folded.layer_name
    END AS range_name
  FROM top_group
  LEFT JOIN folded
    ON folded.layer = top_group.group_id
),
-- Each group of ranges, on a GPU.
grouped AS MATERIALIZED (
  SELECT
    top_group.place,
    instance.gpu_id,
    sum(instance.end_ns - instance.start_ns) AS total_ns,
    count(*) AS range_count,
    sum(iif(instance.end_ns - instance.start_ns < period.period_ns, instance.end_ns - instance.start_ns, 0)) AS short_ns
  FROM instance
  JOIN top_group
    ON top_group.group_id = instance.group_id
  JOIN (SELECT gpu_id, max(period_ns) AS period_ns FROM period GROUP BY gpu_id) AS period
    ON period.gpu_id = instance.gpu_id
  GROUP BY top_group.place, instance.gpu_id
),
weight AS MATERIALIZED (
  SELECT span_id AS place, by_id AS interval_id, sum(end_ns - start_ns) AS weight_ns
  FROM split_spans(
    (
      SELECT time_spans(instance.gpu_id, top_group.place, instance.start_ns, instance.end_ns)
      FROM instance
      JOIN top_group
        ON top_group.group_id = instance.group_id
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
),
summed AS (
  SELECT
    grouped.place,
    iif(:per_gpu, grouped.gpu_id, NULL) AS gpu_id,
    series.metric_id,
    min(series.metric) AS metric,
    min(series.unit) AS unit,
    sum(weighed.integral) AS integral,
    sum(coalesce(weighed.covered_ns, 0)) AS covered_ns,
    sum(grouped.total_ns) AS total_ns,
    sum(grouped.range_count) AS range_count,
    sum(grouped.short_ns) AS short_ns,
    max(period.period_ns) AS period_ns
  FROM grouped
  JOIN period
    ON period.gpu_id = grouped.gpu_id
  JOIN series
    ON series.series_id = period.series_id
  LEFT JOIN weighed
    ON weighed.key = grouped.place << 32 | period.series_id
  GROUP BY grouped.place, iif(:per_gpu, grouped.gpu_id, NULL), series.metric_id
)
SELECT
  summed.metric,
  summed.unit,
  summed.integral / nullif(summed.covered_ns, 0) AS mean,
  100.0 * summed.covered_ns / nullif(summed.total_ns, 0) AS covered_pct,
  100.0 * summed.short_ns / nullif(summed.total_ns, 0) AS short_pct,
  summed.total_ns,
  summed.range_count,
  summed.period_ns,
  summed.gpu_id,
  labelled.range_name,
  (SELECT attribution FROM scope) AS attribution
FROM summed
JOIN labelled
  ON labelled.place = summed.place
ORDER BY summed.place, summed.gpu_id, summed.metric_id
