/*---
name: gpu_metric_by_kernel
version: 1
title: Hardware metrics by kernel
summary: Mean of each hardware metric while kernels of one name run.
why: To see which kernels use the SMs, the tensor cores and the memory badly, without a run of Nsight Compute.
kind: sum
tags: [gpu, kernel]
reads: [all_gpu_metric_interval, cuda_gpu, gpu_metric_name, kernel, process_device, string]
requires: [kernel, gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as SM*."}
  - {name: kernel, type: text, default: "*", doc: "GLOB pattern for the demangled name of the kernel."}
  - {name: per_gpu, type: bool, default: false, doc: "One row for each GPU; otherwise the GPUs together."}
  - {name: top, type: int, default: 20, min: -1, doc: "Number of kernel names, those with the most time; -1 takes all."}
columns:
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 2, doc: "Unit of the mean: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: mean, type: real, priority: 1, doc: "Mean of the samples, weighted by the time they share with the kernels; null if no sample does."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of kernel time sampled", priority: 1, doc: "Time of the kernels that samples of the metric describe, as a share of total_ns."}
  - {name: short_pct, type: percent, unit: percent, label: "% of time in short runs", priority: 1, doc: "Time of executions shorter than the period, as a share of total_ns: their samples also describe what ran before and after them."}
  - {name: total_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Sum of the execution times."}
  - {name: kernel_count, type: int, unit: count, label: "executions", priority: 2, doc: "Number of executions."}
  - {name: period_ns, type: duration, unit: ns, label: "period", priority: 2, doc: "Usual time between two samples; the longest of the GPUs."}
  - {name: gpu_id, type: id, label: "GPU", priority: 2, doc: "Number of the GPU on its machine; null without per_gpu."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name."}
checks:
  - covered_pct BETWEEN 0 AND 100 AND short_pct BETWEEN 0 AND 100
  - kernel_count >= 1
when_empty: "no kernel ran on a GPU whose metrics were sampled, or no name matches"
limits: >-
  A sample describes the whole GPU over one period, about 100 us. An execution shorter than that reads a mixture: its own
  values, those of the kernels before and after it, and idle time. short_pct is the share of these executions; where it
  is high, do not compare kernels, but use Nsight Compute. Kernels that run at the same time read the same samples.
  Executions that --time cuts count in full. Kernels of a CUDA graph traced as a whole are not included.
see_also: [gpu_metric_sum, gpu_metric_by_range, gpu_metric_by_step, top_kernels]
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
sampled_device AS MATERIALIZED (
  SELECT
    place.global_pid,
    place.device_id,
    coalesce((SELECT max(card_id) FROM cuda_gpu WHERE cuda_gpu.gpu_id = place.gpu_id), place.gpu_id) AS gpu_id
  FROM process_device AS place
),
ran AS MATERIALIZED (
  SELECT kernel.name_id, device.gpu_id, kernel.start_ns, kernel.end_ns, kernel.dur_ns
  FROM kernel
  JOIN sampled_device AS device
    ON device.device_id = kernel.device_id
    AND device.global_pid IS NOT DISTINCT FROM kernel.global_pid
  WHERE device.gpu_id IN (SELECT gpu_id FROM period)
    AND (:kernel = '*' OR kernel.kernel_name GLOB :kernel)
),
top_name AS MATERIALIZED (
  SELECT name_id, row_number() OVER (ORDER BY sum(dur_ns) DESC, name_id) AS place
  FROM ran
  GROUP BY name_id
  ORDER BY place
  LIMIT :top
),
-- Each group is a kernel name, on a GPU.
grouped AS MATERIALIZED (
  SELECT
    top_name.place,
    ran.gpu_id,
    sum(ran.dur_ns) AS total_ns,
    count(*) AS kernel_count,
    sum(iif(ran.dur_ns < period.period_ns, ran.dur_ns, 0)) AS short_ns
  FROM ran
  JOIN top_name
    ON top_name.name_id = ran.name_id
  JOIN (SELECT gpu_id, max(period_ns) AS period_ns FROM period GROUP BY gpu_id) AS period
    ON period.gpu_id = ran.gpu_id
  GROUP BY top_name.place, ran.gpu_id
),
weight AS MATERIALIZED (
  SELECT span_id AS place, by_id AS interval_id, sum(end_ns - start_ns) AS weight_ns
  FROM split_spans(
    (
      SELECT time_spans(ran.gpu_id, top_name.place, ran.start_ns, ran.end_ns)
      FROM ran
      JOIN top_name
        ON top_name.name_id = ran.name_id
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
    sum(grouped.kernel_count) AS kernel_count,
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
  summed.kernel_count,
  summed.period_ns,
  summed.gpu_id,
  (SELECT text FROM string WHERE string_id = top_name.name_id) AS kernel_name
FROM summed
JOIN top_name
  ON top_name.place = summed.place
ORDER BY summed.place, summed.gpu_id, summed.metric_id
