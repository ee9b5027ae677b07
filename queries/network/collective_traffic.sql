/*---
name: collective_traffic
version: 1
title: Network traffic of collectives
summary: What each network port carried while collectives ran, and while none did.
why: To see whether collectives fill the network, and what else uses it.
kind: sum
tags: [communication, gpu]
reads: [collective_op, network_sample]
requires: [collective_op, network_metric]
rows_if: EXISTS (SELECT 1 FROM network_sample)
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as *ytes*."}
columns:
  - {name: device_kind, type: text, label: "kind", priority: 3, doc: "nic or switch."}
  - {name: guid, type: text, label: "GUID", priority: 3, doc: "GUID of the device, in hexadecimal digits; null if unknown."}
  - {name: nic_name, type: text, label: "device", priority: 0, doc: "Name of the network card; null for switches, or if unknown."}
  - {name: port_id, type: id, label: "port", priority: 1, doc: "Port of the device; null if not recorded."}
  - {name: metric_name, type: text, label: "metric", priority: 0, doc: "Name of the metric."}
  - {name: metric_unit, type: text, label: "unit", priority: 2, doc: "Unit of the metric, as the report has it."}
  - {name: operation, type: text, priority: 0, doc: "Collective, such as AllReduce; (none) for the time without one."}
  - {name: op_count, type: int, unit: count, label: "collectives", priority: 2, doc: "Collectives that ran on a GPU of the report; 0 for (none)."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "Sum of what the ranks of the report contribute; null if unknown, and for (none)."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time in which at least one collective ran, or none did, while the metric was sampled."}
  - {name: size_bytes_per_s, type: real, unit: bytes_per_s, label: "size per time", priority: 1, doc: "size_bytes by the whole time in which a collective ran; null as size_bytes is."}
  - {name: mean_value, type: real, label: "mean", priority: 1, doc: "Mean of the metric in total_ns, weighted by time; null if total_ns is 0."}
  - {name: mean_bytes_per_s, type: real, unit: bytes_per_s, label: "mean rate", priority: 1, doc: "mean_value in bytes per second; null if the unit is not bytes/ms."}
checks:
  - op_count >= 0 AND total_ns >= 0
when_empty: "no network metric was sampled, or all are 0"
limits: >-
  A sample describes its whole interval, often 10 ms or more: a collective that is shorter reads a mixture with what ran
  before and after it. Metrics that are 0 throughout are left out. Where collectives run at the same time, the traffic
  counts for each operation. Traffic of all programs on the machine counts. Collectives within a machine use no port.
see_also: [network_sum, network_traffic_map, bus_bandwidth, link_use]
---*/
WITH
sample AS MATERIALIZED (
  SELECT *
  FROM network_sample
  WHERE metric_name GLOB :metric
    AND has_traffic
),
series AS MATERIALIZED (
  SELECT DISTINCT series_id, device_kind, guid, nic_name, port_id, metric_name, metric_unit
  FROM sample
),
-- Each operation, and all together: what is left is the time without one.
ran AS MATERIALIZED (
  SELECT
    iif(every.is_all, NULL, op.operation) AS operation,
    count(*) AS op_count,
    sum(op.size_bytes) AS size_bytes,
    busy_ns(op.start_ns, op.end_ns) AS ran_ns,
    time_set(op.start_ns, op.end_ns) AS times
  FROM collective_op AS op
  CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) AS every
  WHERE op.end_ns > op.start_ns
  GROUP BY iif(every.is_all, NULL, op.operation)
),
shared AS MATERIALIZED (
  SELECT
    sample.series_id,
    ran.operation,
    max(ran.op_count) AS op_count,
    max(ran.size_bytes) AS size_bytes,
    max(ran.ran_ns) AS ran_ns,
    sum(overlap_ns(ran.times, sample.start_ns, sample.end_ns)) AS shared_ns,
    sum(1.0 * sample.value * overlap_ns(ran.times, sample.start_ns, sample.end_ns)) AS shared_value,
    sum(sample.end_ns - sample.start_ns) AS sampled_ns,
    sum(1.0 * sample.value * (sample.end_ns - sample.start_ns)) AS sampled_value
  FROM sample
  CROSS JOIN ran
  GROUP BY sample.series_id, ran.operation
),
summed AS (
  SELECT
    series_id,
    coalesce(operation, '(none)') AS operation,
    iif(operation IS NULL, 0, op_count) AS op_count,
    iif(operation IS NULL, NULL, size_bytes) AS size_bytes,
    ran_ns,
    iif(operation IS NULL, sampled_ns - shared_ns, shared_ns) AS total_ns,
    iif(operation IS NULL, sampled_value - shared_value, shared_value) AS value_ns
  FROM shared
)
SELECT
  series.device_kind,
  iif(series.guid IS NULL, NULL, printf('%x', series.guid)) AS guid,
  series.nic_name,
  series.port_id,
  series.metric_name,
  series.metric_unit,
  summed.operation,
  summed.op_count,
  summed.size_bytes,
  summed.total_ns,
  1e9 * summed.size_bytes / nullif(summed.ran_ns, 0) AS size_bytes_per_s,
  summed.value_ns / nullif(summed.total_ns, 0) AS mean_value,
  iif(series.metric_unit = 'bytes/ms', 1e3 * summed.value_ns / nullif(summed.total_ns, 0), NULL) AS mean_bytes_per_s
FROM summed
JOIN series
  ON series.series_id = summed.series_id
ORDER BY series.series_id, summed.operation = '(none)', summed.total_ns DESC, summed.operation
