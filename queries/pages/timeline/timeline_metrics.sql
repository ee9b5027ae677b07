/*---
name: timeline_metrics
version: 1
title: Hardware metrics on the timeline
summary: Means of each hardware metric of each GPU over time, as a list of numbers.
why: To see how the work on the timeline uses the hardware.
kind: sum
tags: [gpu]
internal: true
reads: []
asks: [gpu_metric_map]
params:
  - {name: pieces, type: int, default: 30, min: 1, max: 10000, doc: "As in gpu_metric_map."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 1, doc: "Unit of the means; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the first piece, on the report's clock."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 1, doc: "Length of each piece but the last."}
  - {name: max, type: real, label: "largest mean", priority: 1, doc: "Largest of the means; null if there is none."}
  - {name: mean_list, type: text, priority: 3, doc: "JSON list of the means of the pieces, with four significant digits or so; null where nothing was sampled."}
when_empty: "no metric was sampled"
limits: See gpu_metric_map.
see_also: [timeline_lanes, gpu_metric_map]
---*/
SELECT
  gpu_id,
  metric,
  unit,
  min(start_ns) AS start_ns,
  min(dur_ns) AS piece_ns,
  max(mean) AS max,
  json_group_array(round(mean, iif(abs(mean) < 100, 2, 0))) AS mean_list
FROM (SELECT * FROM gpu_metric_map ORDER BY gpu_id, metric, piece_id)
GROUP BY gpu_id, metric, unit
ORDER BY gpu_id, metric, unit
