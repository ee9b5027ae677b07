/*---
name: gpu_metric_map
version: 1
title: Hardware metrics over time
summary: Mean of each hardware metric of each GPU in each piece of the time.
why: To draw the use of the GPUs as a heat map, and to find phases in which they are used badly.
kind: sum
tags: [gpu]
reads: [gpu_metric_interval, gpu_metric_name, scope]
requires: [gpu_metric_interval]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as SM*."}
  - {name: gpu, type: int, min: 0, doc: "Number of the GPU. Default: all GPUs."}
  - {name: pieces, type: int, default: 30, min: 1, max: 10000, doc: "Number of pieces of equal length, from the first sample to the last of any GPU, or of --time."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: metric, type: text, priority: 0, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, priority: 2, doc: "Unit of the mean: percent of the peak, MHz, or the word of the report; null if unknown."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "length", priority: 2, doc: "Length of the piece. The last one can be longer by less than `pieces` ns."}
  - {name: mean, type: real, priority: 1, doc: "Mean in the piece, weighted by time; null if no sample describes any part."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of piece sampled", priority: 2, doc: "Time of the piece that samples describe, as a share of dur_ns; null if the piece has no length."}
checks:
  - covered_pct BETWEEN 0 AND 100
when_empty: "no metric of this name was sampled"
limits: >-
  A sample that crosses a border counts in both pieces, each by its part. Counts, such as requests, are those of a sample.
  Metrics count the work of all processes on the GPU.
see_also: [gpu_metric_sum, gpu_metric_by_step, gpu_clocks]
---*/
WITH RECURSIVE
series AS MATERIALIZED (
  SELECT DISTINCT series_id, gpu_id, metric_id, metric, unit
  FROM gpu_metric_name
  WHERE metric GLOB :metric
    AND (:gpu IS NULL OR gpu_id = :gpu)
),
cut AS MATERIALIZED (
  SELECT
    described.series_id,
    described.value,
    max(described.start_ns, coalesce(of_scope.start_ns, described.start_ns)) AS start_ns,
    min(described.end_ns, coalesce(of_scope.end_ns, described.end_ns)) AS end_ns
  FROM gpu_metric_interval AS described
  CROSS JOIN scope AS of_scope
  WHERE described.series_id IN (SELECT series_id FROM series)
),
whole AS MATERIALIZED (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM cut
),
piece AS (
  SELECT 0 AS piece
  UNION ALL
  SELECT piece + 1 FROM piece WHERE piece + 1 < :pieces
),
bound AS MATERIALIZED (
  SELECT
    piece,
    start_ns + piece * ((end_ns - start_ns) / :pieces) AS from_ns,
    iif(piece + 1 = :pieces, end_ns, start_ns + (piece + 1) * ((end_ns - start_ns) / :pieces)) AS to_ns
  FROM piece
  CROSS JOIN whole
  WHERE start_ns IS NOT NULL
),
-- The value of a sample, in millionths, is its ID here: samples of one value need not be distinguished.
summed AS MATERIALIZED (
  SELECT
    key AS series_id,
    by_id AS piece,
    sum(1.0 * span_id * (end_ns - start_ns)) / 1e6 AS integral,
    sum(end_ns - start_ns) AS covered_ns
  FROM split_spans(
    (SELECT time_spans(series_id, CAST(round(1e6 * value) AS INTEGER), start_ns, end_ns) FROM cut),
    (SELECT time_spans(series_id, piece, from_ns, to_ns) FROM series CROSS JOIN bound)
  )
  WHERE by_id IS NOT NULL
  GROUP BY key, by_id
)
SELECT
  series.gpu_id,
  series.metric,
  series.unit,
  bound.piece AS piece_id,
  bound.from_ns AS start_ns,
  bound.to_ns - bound.from_ns AS dur_ns,
  summed.integral / nullif(summed.covered_ns, 0) AS mean,
  100.0 * coalesce(summed.covered_ns, 0) / nullif(bound.to_ns - bound.from_ns, 0) AS covered_pct
FROM series
CROSS JOIN bound
LEFT JOIN summed
  ON summed.series_id = series.series_id
  AND summed.piece = bound.piece
WHERE series.series_id IN (SELECT series_id FROM cut)
ORDER BY series.gpu_id, series.metric_id, bound.piece
