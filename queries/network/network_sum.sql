/*---
name: network_sum
version: 1
title: Network traffic summary
summary: Total, mean and peak of each metric of each network device and port.
why: To see how much each network port carried, and whether one carried less than the others.
kind: sum
tags: [communication]
reads: [network_metric]
params:
  - {name: metric, type: text, default: "*", doc: "GLOB pattern for the name of the metric, such as '*Bytes*'."}
  - {name: zeros, type: bool, default: false, doc: "Return metrics that were 0 all the time, too."}
columns:
  - {name: device_kind, type: text, label: "kind", priority: 1, doc: "nic for a network card, switch for an InfiniBand switch."}
  - {name: guid, type: text, label: "GUID", priority: 1, doc: "GUID of the device in hexadecimal; null if unknown."}
  - {name: nic_name, type: text, label: "device", priority: 0, doc: "Name that the system gives the card, such as mlx5_0; null for switches and if unknown."}
  - {name: device_name, type: text, label: "model", priority: 3, doc: "Model of the card; null for switches and if unknown."}
  - {name: port_id, type: id, label: "port", priority: 0, doc: "Port of the device; null before schema 3.23.3."}
  - {name: metric_name, type: text, label: "metric", priority: 0, doc: "Name of the metric, such as IB: Bytes sent."}
  - {name: metric_unit, type: text, label: "unit", priority: 1, doc: "Unit of mean and peak, as nsys names it, such as bytes/ms."}
  - {name: total, type: real, priority: 1, doc: "Sum over time, such as bytes, if the unit is a rate per ms; otherwise null."}
  - {name: mean_value, type: real, label: "mean", priority: 1, doc: "Mean of the values, weighted by the length of their samples."}
  - {name: peak_value, type: int, label: "peak", priority: 1, doc: "Largest value."}
  - {name: peak_ns, type: timestamp, unit: ns, label: "time of peak", doc: "Start of the first sample with the largest value, on the report's clock."}
  - {name: mean_bytes_per_s, type: real, unit: bytes_per_s, label: "mean rate", priority: 1, doc: "mean_value in bytes per second; null if the unit is not bytes/ms."}
  - {name: peak_bytes_per_s, type: real, unit: bytes_per_s, label: "peak rate", priority: 1, doc: "peak_value in bytes per second; null if the unit is not bytes/ms."}
  - {name: samples, type: int, unit: count, priority: 3, doc: "Number of samples."}
  - {name: sampled_ns, type: duration, unit: ns, label: "sampled time", priority: 3, doc: "Sum of the lengths of the samples."}
checks:
  - samples >= 1
  - mean_value <= peak_value + 1e-9
when_empty: "all values are 0, or no metric matches -p metric; -p zeros=true returns metrics that are 0, too"
limits: >-
  nsys writes rates, not counters: the total is value times length of each sample. A peak that is shorter than the
  sampling period is averaged. With --nic-metrics=lf, periods are long. Rows of one device before schema 3.23.3 mix its
  ports. Traffic of all programs on the machine counts.
see_also: [network_traffic_map, network_congestion, bus_bandwidth]
---*/
WITH
-- Few rows: one per device, port and metric.
summed AS MATERIALIZED (
  SELECT
    device_kind,
    guid,
    nic_name,
    device_name,
    port_id,
    metric_name,
    metric_unit,
    sum(1.0 * value * (end_ns - start_ns)) AS value_ns,
    sum(end_ns - start_ns) AS sampled_ns,
    max(value) AS peak_value,
    count(*) AS samples
  FROM network_metric
  WHERE metric_name GLOB :metric
  GROUP BY device_kind, guid, nic_name, device_name, port_id, metric_name, metric_unit
  HAVING :zeros OR max(value) <> 0 OR min(value) <> 0
),
peak AS MATERIALIZED (
  SELECT device_kind, guid, nic_name, device_name, port_id, metric_name, metric_unit, value, min(start_ns) AS start_ns
  FROM network_metric
  WHERE metric_name GLOB :metric
    AND value IN (SELECT peak_value FROM summed)
  GROUP BY device_kind, guid, nic_name, device_name, port_id, metric_name, metric_unit, value
)
SELECT
  summed.device_kind,
  iif(summed.guid IS NULL, NULL, printf('%x', summed.guid)) AS guid,
  summed.nic_name,
  summed.device_name,
  summed.port_id,
  summed.metric_name,
  summed.metric_unit,
  iif(summed.metric_unit GLOB '*/ms', summed.value_ns / 1e6, NULL) AS total,
  summed.value_ns / nullif(summed.sampled_ns, 0) AS mean_value,
  summed.peak_value,
  peak.start_ns AS peak_ns,
  iif(summed.metric_unit = 'bytes/ms', 1e3 * summed.value_ns / nullif(summed.sampled_ns, 0), NULL) AS mean_bytes_per_s,
  iif(summed.metric_unit = 'bytes/ms', 1e3 * summed.peak_value, NULL) AS peak_bytes_per_s,
  summed.samples,
  summed.sampled_ns
FROM summed
LEFT JOIN peak
  ON peak.value = summed.peak_value
  AND peak.device_kind = summed.device_kind
  AND peak.metric_name = summed.metric_name
  AND peak.guid IS NOT DISTINCT FROM summed.guid
  AND peak.nic_name IS NOT DISTINCT FROM summed.nic_name
  AND peak.device_name IS NOT DISTINCT FROM summed.device_name
  AND peak.port_id IS NOT DISTINCT FROM summed.port_id
  AND peak.metric_unit IS NOT DISTINCT FROM summed.metric_unit
ORDER BY
  summed.device_kind,
  summed.guid,
  summed.nic_name,
  summed.port_id,
  summed.metric_name,
  summed.metric_unit,
  summed.device_name
