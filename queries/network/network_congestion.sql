/*---
name: network_congestion
version: 2
title: Congestion of network devices
summary: Times in which a network device had data to send but could not, by start.
why: To see when the network held messages back, and on which device.
kind: trace
tags: [communication]
reads: [network_metric]
params:
  - {name: threshold, type: int, default: 10000, doc: "Return samples with a send wait rate above this many ticks per ms."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the sample, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the sample."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the sample."}
  - {name: send_wait_rate, type: int, label: "send waits (ticks/ms)", priority: 1, doc: "Ticks per ms in which the port had data but did not send; the length of a tick depends on the device."}
  - {name: guid, type: text, label: "GUID", priority: 0, doc: "GUID of the device in hexadecimal."}
  - {name: port_id, type: id, label: "port", priority: 0, doc: "Port of the device; null before schema 3.23.3."}
  - {name: device_name, type: text, label: "device", priority: 0, doc: "Model of the card; null for a switch."}
checks:
  - dur_ns >= 0
when_empty: "no device waited longer than the threshold; a lower -p threshold=N returns more"
limits: >-
  Compare rates of one device only, because devices count in ticks of their own. Cards that the report
  does not know are left out, as in NVIDIA's report.
see_also: [nccl_sum, mpi_event_trace]
nsys:
  title: Network Devices Congestion
  args:
    - {name: ticks_threshold, param: threshold}
  lacks:
    - {says: "NIC or IB switch metrics"}
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: End, unit: ns, sql: end_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: "Send wait rate (ticks/ms)", sql: send_wait_rate}
    - {name: GUID, sql: guid}
    - {name: Device name, sql: device_name}
---*/
SELECT
  start_ns,
  end_ns - start_ns AS dur_ns,
  end_ns,
  value AS send_wait_rate,
  printf('%x', guid) AS guid,
  port_id,
  device_name
FROM network_metric
WHERE metric_name = 'IB: Send waits'
  AND value > :threshold
  AND (device_kind = 'switch' OR device_name IS NOT NULL)
ORDER BY start_ns, end_ns, device_kind, sample_id, network_metric.guid
