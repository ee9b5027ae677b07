/*---
name: metric_means
version: 1
title: Hardware metrics of a report without GPU work
summary: Mean, smallest and largest value of each metric of each GPU.
why: To show what a capture of metrics alone holds.
kind: sum
tags: [gpu]
internal: true
reads: [gpu_metric_interval, gpu_metric_name, gpu_op, graph_trace]
requires: [gpu_metric_interval]
rows_if: NOT EXISTS (SELECT 1 FROM gpu_op) AND NOT EXISTS (SELECT 1 FROM graph_trace)
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 1, doc: "Unit of the values; null if unknown."}
  - {name: mean, type: real, priority: 1, doc: "Mean, weighted by the time that each sample describes; null if there is none."}
  - {name: min, type: real, priority: 1, doc: "Smallest sample."}
  - {name: max, type: real, priority: 1, doc: "Largest sample."}
  - {name: sampled_ns, type: duration, unit: ns, label: "sampled", priority: 2, doc: "Time that the samples describe."}
when_empty: "the report has GPU work, or no metric was sampled"
limits: "As gpu_metric_sum, which has more columns."
see_also: [gpu_metric_sum]
---*/
SELECT
  name.gpu_id,
  name.metric,
  name.unit,
  summed.mean,
  summed.min,
  summed.max,
  summed.sampled_ns
FROM (
  SELECT
    series_id,
    sum(1.0 * value * dur_ns) / nullif(sum(dur_ns), 0) AS mean,
    min(value) AS min,
    max(value) AS max,
    sum(dur_ns) AS sampled_ns
  FROM gpu_metric_interval
  WHERE NOT EXISTS (SELECT 1 FROM gpu_op)
    AND NOT EXISTS (SELECT 1 FROM graph_trace)
  GROUP BY series_id
) AS summed
JOIN (SELECT DISTINCT series_id, gpu_id, metric_id, metric, unit FROM gpu_metric_name) AS name
  ON name.series_id = summed.series_id
ORDER BY name.gpu_id, name.metric_id
