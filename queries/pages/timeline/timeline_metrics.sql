/*---
name: timeline_metrics
version: 1
title: Counters on the timeline
summary: Means of each hardware metric and of the queue of each GPU over time, as lists.
why: To see how the work on the timeline uses the hardware, and how far the host is ahead.
kind: sum
tags: [gpu]
internal: true
reads: []
asks:
  - {query: gpu_metric_map, optional: true}
  - {query: launch_queue_map, optional: true}
params:
  - {name: pieces, type: int, default: 30, min: 1, max: 10000, doc: "As in gpu_metric_map and launch_queue_map."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips; Launches in the queue: operations launched and not finished."}
  - {name: unit, type: text, priority: 1, doc: "Unit of the means; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the first piece, on the report's clock."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 1, doc: "Length of each piece but the last."}
  - {name: max, type: real, label: "largest mean", priority: 1, doc: "Largest of the means; null if there is none."}
  - {name: mean_list, type: text, priority: 3, doc: "JSON list of the means of the pieces, with four significant digits or so; null where nothing was sampled."}
when_empty: "no metric was sampled, and no launch recorded"
limits: See gpu_metric_map and launch_queue_map.
see_also: [timeline_lanes, gpu_metric_map, launch_queue_map]
---*/
WITH
counter AS (
  SELECT gpu_id, metric, unit, piece_id, start_ns, dur_ns, mean
  FROM gpu_metric_map
  UNION ALL
  SELECT gpu_id, 'Launches in the queue', 'launches', piece_id, start_ns, dur_ns, mean_depth
  FROM launch_queue_map
)
SELECT
  gpu_id,
  metric,
  unit,
  min(start_ns) AS start_ns,
  max(iif(piece_id = 0, dur_ns, 0)) AS piece_ns,
  max(mean) AS max,
  json_group_array(round(mean, iif(abs(mean) < 100, 2, 0))) AS mean_list
FROM (SELECT * FROM counter ORDER BY gpu_id, metric, piece_id)
GROUP BY gpu_id, metric, unit
ORDER BY gpu_id, metric, unit
