/*---
name: network_sample
summary: One row per sample of a network metric, with the device, port and metric that it belongs to.
internal: true
present_if: [network_metric]
reads: [network_metric]
columns:
  - {name: series_id, type: id, doc: "Number of the device, port and metric, from 1 in the order of the columns that follow."}
  - {name: device_kind, type: text, doc: "nic for a network card, switch for an InfiniBand switch."}
  - {name: guid, type: id, doc: "GUID of the device; null if unknown."}
  - {name: nic_name, type: text, doc: "Name that the system gives the card, such as mlx5_0; null for switches and if unknown."}
  - {name: port_id, type: id, doc: "Port of the device; null before schema 3.23.3."}
  - {name: metric_name, type: text, doc: "Name of the metric, such as IB: Bytes sent."}
  - {name: metric_unit, type: text, doc: "Unit of the value, as nsys names it, such as bytes/ms."}
  - {name: has_traffic, type: bool, doc: "1 if a value of the series is not 0."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the sample, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the sample."}
  - {name: value, type: int, doc: "Value, in the unit of the metric. A rate holds from start_ns to end_ns."}
limits: Samples without a length are left out.
---*/
WITH
-- Few rows: one per device, port and metric.
series AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY device_kind, guid, nic_name, port_id, metric_name, metric_unit) AS series_id,
    device_kind,
    guid,
    nic_name,
    port_id,
    metric_name,
    metric_unit,
    max(value) <> 0 OR min(value) <> 0 AS has_traffic
  FROM network_metric
  WHERE end_ns > start_ns
  GROUP BY device_kind, guid, nic_name, port_id, metric_name, metric_unit
)
SELECT series.*, metric.start_ns, metric.end_ns, metric.value
FROM network_metric AS metric
JOIN series
  ON series.device_kind = metric.device_kind
  AND series.metric_name = metric.metric_name
  AND series.guid IS NOT DISTINCT FROM metric.guid
  AND series.nic_name IS NOT DISTINCT FROM metric.nic_name
  AND series.port_id IS NOT DISTINCT FROM metric.port_id
  AND series.metric_unit IS NOT DISTINCT FROM metric.metric_unit
WHERE metric.end_ns > metric.start_ns
