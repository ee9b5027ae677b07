/*---
name: network_traffic_map
version: 1
title: Network traffic over time
summary: Mean and peak of each metric of each network port, per piece of time.
why: To see when the network was busy, and which ports were busy at the same time.
kind: sum
tags: [communication]
reads: [network_sample]
requires: [network_metric]
params:
  - {name: bins, type: int, default: 30, min: 1, max: 10000, doc: "Pieces of equal length, from the first to the last sample of any device."}
  - {name: metric, type: text, default: "*Bytes*", doc: "GLOB pattern for the name of the metric; '*' takes all, '*Send waits' congestion."}
columns:
  - {name: device_kind, type: text, label: "kind", priority: 3, doc: "nic for a network card, switch for an InfiniBand switch."}
  - {name: guid, type: text, label: "GUID", priority: 1, doc: "GUID of the device in hexadecimal; null if unknown."}
  - {name: nic_name, type: text, label: "device", priority: 0, doc: "Name that the system gives the card, such as mlx5_0; null for switches and if unknown."}
  - {name: port_id, type: id, label: "port", priority: 0, doc: "Port of the device; null before schema 3.23.3."}
  - {name: metric_name, type: text, label: "metric", priority: 0, doc: "Name of the metric, such as IB: Bytes sent."}
  - {name: metric_unit, type: text, label: "unit", priority: 1, doc: "Unit of mean and peak, as nsys names it, such as bytes/ms."}
  - {name: bin_id, type: id, label: "bin", priority: 1, doc: "Number of the piece of time, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "length", priority: 3, doc: "Length of the piece."}
  - {name: mean_value, type: real, label: "mean", priority: 1, doc: "Mean of the values in the piece, weighted by time; null if no sample is in it."}
  - {name: peak_value, type: int, label: "peak", priority: 1, doc: "Largest value of a sample that overlaps the piece; null if none does."}
  - {name: total, type: real, priority: 1, doc: "Sum over the piece, such as bytes, if the unit is a rate per ms; otherwise null."}
  - {name: sampled_ns, type: duration, unit: ns, label: "sampled time", priority: 3, doc: "Part of the piece that samples cover."}
checks:
  - dur_ns > 0 AND sampled_ns >= 0
  - mean_value IS NULL OR mean_value <= peak_value + 1e-9
when_empty: "no metric matches -p metric, or all its values are 0; network_sum lists the metrics"
limits: >-
  A sample that lies in two pieces counts in each with its overlap. Metrics that are 0 all the time have no rows. Traffic
  of all programs on the machine counts. A card with several ports has rows per port only since schema 3.23.3.
see_also: [network_sum, network_congestion, collectives]
---*/
WITH RECURSIVE
sample AS MATERIALIZED (
  SELECT *, row_number() OVER () AS id
  FROM network_sample
  WHERE metric_name GLOB :metric
),
whole AS (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM sample
),
series AS MATERIALIZED (
  SELECT DISTINCT series_id, device_kind, guid, nic_name, port_id, metric_name, metric_unit
  FROM sample
  WHERE has_traffic
),
number AS (
  SELECT 0 AS bin
  UNION ALL
  SELECT bin + 1 FROM number WHERE bin + 1 < :bins
),
-- The last piece is longer by what the division leaves.
bin AS MATERIALIZED (
  SELECT
    bin,
    start_ns + bin * ((end_ns - start_ns) / :bins) AS from_ns,
    iif(bin + 1 = :bins, end_ns, start_ns + (bin + 1) * ((end_ns - start_ns) / :bins)) AS to_ns
  FROM number
  CROSS JOIN whole
  WHERE end_ns - start_ns >= :bins
),
piece AS MATERIALIZED (
  SELECT key AS series_id, span_id AS bin, by_id AS id, end_ns - start_ns AS dur_ns
  FROM split_spans(
    (SELECT time_spans(series_id, bin, from_ns, to_ns) FROM series CROSS JOIN bin),
    (SELECT time_spans(series_id, id, start_ns, end_ns) FROM sample WHERE has_traffic)
  )
  WHERE by_id IS NOT NULL
),
filled AS MATERIALIZED (
  SELECT
    piece.series_id,
    piece.bin,
    sum(1.0 * sample.value * piece.dur_ns) AS value_ns,
    sum(piece.dur_ns) AS sampled_ns,
    max(sample.value) AS peak_value
  FROM piece
  JOIN sample
    ON sample.id = piece.id
  GROUP BY piece.series_id, piece.bin
)
SELECT
  series.device_kind,
  iif(series.guid IS NULL, NULL, printf('%x', series.guid)) AS guid,
  series.nic_name,
  series.port_id,
  series.metric_name,
  series.metric_unit,
  bin.bin AS bin_id,
  bin.from_ns AS start_ns,
  bin.to_ns - bin.from_ns AS dur_ns,
  filled.value_ns / nullif(filled.sampled_ns, 0) AS mean_value,
  filled.peak_value,
  iif(series.metric_unit GLOB '*/ms', filled.value_ns / 1e6, NULL) AS total,
  coalesce(filled.sampled_ns, 0) AS sampled_ns
FROM series
CROSS JOIN bin
LEFT JOIN filled
  ON filled.series_id = series.series_id
  AND filled.bin = bin.bin
ORDER BY series.series_id, bin_id
