/*---
name: network_metric
summary: One row per sampled value of a network card or an InfiniBand switch.
present_if: [src_nic_metric, src_ib_switch_metric]
scope: {time: [start_ns, end_ns]}
reads: [src_nic_metric, src_ib_switch_metric, src_network_metric_name, src_nic_id, src_nic, src_enum_net_device]
columns:
  - {name: device_kind, type: text, doc: "nic for a network card, switch for an InfiniBand switch."}
  - {name: sample_id, type: id, doc: "Row ID in the raw table of this device_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the sample, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the sample."}
  - {name: metric_name, type: text, doc: "Name of the metric, such as IB: Send waits."}
  - {name: metric_unit, type: text, doc: "Unit of the value, as nsys names it, such as bytes/ms."}
  - {name: value, type: int, doc: "Value, in the unit of the metric. A rate holds from start_ns to end_ns."}
  - {name: port_id, type: id, doc: "Port of the device; null before schema 3.23.3, which has no ports."}
  - {name: guid, type: id, doc: "GUID of the device; null if the report does not know the card."}
  - {name: device_name, type: text, doc: "Model of the card; null for switches, and for cards that the report does not know."}
  - {name: nic_name, type: text, doc: "Name that the system gives the card, such as mlx5_0; null for switches and if unknown."}
---*/
SELECT
  'nic' AS device_kind,
  sample.row_id AS sample_id,
  sample.start AS start_ns,
  sample."end" AS end_ns,
  metric.name AS metric_name,
  metric.unit AS metric_unit,
  sample.value AS value,
  sample.portId AS port_id,
  nic.GUID AS guid,
  (SELECT label FROM src_enum_net_device WHERE src_enum_net_device.id = nic.deviceId) AS device_name,
  nullif(nic.name, '') AS nic_name
FROM src_nic_metric AS sample
JOIN src_network_metric_name AS metric
  ON metric.metricsListId = sample.metricsListId
  AND metric.metricsIdx = sample.metricsIdx
LEFT JOIN src_nic_id AS nic_id ON nic_id.globalId = sample.globalId
LEFT JOIN src_nic AS nic ON nic.nicId = nic_id.nicId
UNION ALL
SELECT
  'switch' AS device_kind,
  sample.row_id AS sample_id,
  sample.start AS start_ns,
  sample."end" AS end_ns,
  metric.name AS metric_name,
  metric.unit AS metric_unit,
  sample.value AS value,
  sample.portId AS port_id,
  sample.globalId AS guid,
  NULL AS device_name,
  NULL AS nic_name
FROM src_ib_switch_metric AS sample
JOIN src_network_metric_name AS metric
  ON metric.metricsListId = sample.metricsListId
  AND metric.metricsIdx = sample.metricsIdx
