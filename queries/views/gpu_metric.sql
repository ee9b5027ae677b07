/*---
name: gpu_metric
summary: One row per sample of one hardware metric of a GPU, such as a clock.
present_if: [src_gpu_metric]
scope: {time: [start_ns, start_ns], gpu: gpu_id}
reads: [src_gpu_metric, src_target_gpu_metric]
columns:
  - {name: sample_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Time of the sample, on the report's clock."}
  - {name: gpu_id, type: id, doc: "Number of the GPU, as in gpu."}
  - {name: metric_name, type: text, doc: "Name of the metric with its unit, such as GPC Clock Frequency [MHz]."}
  - {name: value, type: int, doc: "Value. Clocks are in Hz, although MHz is in their names. 2^32 is added to a value below -2^30, which has overflowed 32 bits. Differences of counters, such as unallocated warps, can be a little below 0."}
limits: >-
  Samples whose time is unknown are left out. A sample describes the time before it: gpu_metric_interval has that time,
  and names and units that are the same for all versions.
---*/
SELECT
  sample.row_id AS sample_id,
  sample.timestamp AS start_ns,
  sample.typeId & 255 AS gpu_id,
  metric.metricName AS metric_name,
  iif(sample.value < -1073741824, sample.value + 4294967296, sample.value) AS value
FROM src_target_gpu_metric AS metric
JOIN src_gpu_metric AS sample
  ON sample.typeId = metric.typeId
  AND sample.metricId = metric.metricId
WHERE sample.timestamp IS NOT NULL
