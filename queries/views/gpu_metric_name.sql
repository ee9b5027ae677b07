/*---
name: gpu_metric_name
summary: One row per hardware metric that was sampled on a GPU, with its unit.
stored: true
present_if: [src_target_gpu_metric]
reads: [src_target_gpu_metric]
columns:
  - {name: type_id, type: id, doc: "Metric set of one GPU, as in src_gpu_metric."}
  - {name: raw_metric_id, type: id, doc: "ID of the metric within its set, as in src_gpu_metric; differs between reports."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine."}
  - {name: metric_id, type: id, doc: "Number of the metric and unit in this report, from 1; the same on all GPUs."}
  - {name: series_id, type: id, doc: "Number of the metric, unit and GPU in this report, from 1."}
  - {name: metric, type: text, doc: "Name without its unit, the same for all versions and chips: SMs Active, which is also called SM Active."}
  - {name: unit, type: text, doc: "Unit of the values: percent, MHz, or the word of the report in lower case, such as requests; null if the name has none."}
  - {name: metric_name, type: text, doc: "Name in the report, such as GPC Clock Frequency [MHz]."}
  - {name: set_name, type: text, doc: "Name of the metric set, such as General Metrics for NVIDIA GH100."}
limits: >-
  Names that the list does not know stay as they are, without the unit in brackets. VRAM and DRAM metrics are of
  different counters, and keep their names. If a set has a metric twice in one unit, the unit in the report is added
  to the name.
---*/
WITH
-- Names of older versions, and the counters that NVIDIA's documentation gives for them. Case does not count.
vocabulary (alias, metric, unit) AS (
  VALUES
  ('gpc clock frequency', 'GPC Clock Frequency', 'MHz'),
  ('gpc__cycles_elapsed.avg.per_second', 'GPC Clock Frequency', 'MHz'),
  ('sys clock frequency', 'SYS Clock Frequency', 'MHz'),
  ('sys__cycles_elapsed.avg.per_second', 'SYS Clock Frequency', 'MHz'),
  ('gr active', 'GR Active', 'percent'),
  ('gr__cycles_active.sum.pct_of_peak_sustained_elapsed', 'GR Active', 'percent'),
  ('sync compute in flight', 'Sync Compute in Flight', 'percent'),
  ('async compute in flight', 'Async Compute in Flight', 'percent'),
  ('draw started', 'Draw Started', 'percent'),
  ('dispatch started', 'Dispatch Started', 'percent'),
  ('vertex/tess/geometry warps in flight', 'Vertex/Tess/Geometry Warps in Flight', 'percent'),
  ('pixel warps in flight', 'Pixel Warps in Flight', 'percent'),
  ('compute warps in flight', 'Compute Warps in Flight', 'percent'),
  ('active sm unused warp slots', 'Unallocated Warps in Active SMs', 'percent'),
  ('unallocated warps in active sm', 'Unallocated Warps in Active SMs', 'percent'),
  ('unallocated warps in active sms', 'Unallocated Warps in Active SMs', 'percent'),
  ('idle sm unused warp slots', 'Idle SM Unused Warp Slots', 'percent'),
  ('sm active', 'SMs Active', 'percent'),
  ('sms active', 'SMs Active', 'percent'),
  ('sm__cycles_active.avg.pct_of_peak_sustained_elapsed', 'SMs Active', 'percent'),
  ('sm issue', 'SM Issue', 'percent'),
  ('sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed', 'SM Issue', 'percent'),
  ('tensor active', 'Tensor Active', 'percent'),
  ('sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed', 'Tensor Active', 'percent'),
  ('tensor active / fp16 active', 'Tensor Active / FP16 Active', 'percent'),
  ('tensor active/fp16 active', 'Tensor Active / FP16 Active', 'percent'),
  ('dram read', 'DRAM Read Bandwidth', 'percent'),
  ('dram read throughput', 'DRAM Read Bandwidth', 'percent'),
  ('dram read bandwidth', 'DRAM Read Bandwidth', 'percent'),
  ('dram__read_throughput.avg.pct_of_peak_sustained_elapsed', 'DRAM Read Bandwidth', 'percent'),
  ('dram write', 'DRAM Write Bandwidth', 'percent'),
  ('dram write throughput', 'DRAM Write Bandwidth', 'percent'),
  ('dram write bandwidth', 'DRAM Write Bandwidth', 'percent'),
  ('dram__write_throughput.avg.pct_of_peak_sustained_elapsed', 'DRAM Write Bandwidth', 'percent'),
  ('vram read throughput', 'VRAM Read Bandwidth', 'percent'),
  ('vram read bandwidth', 'VRAM Read Bandwidth', 'percent'),
  ('vram write throughput', 'VRAM Write Bandwidth', 'percent'),
  ('vram write bandwidth', 'VRAM Write Bandwidth', 'percent'),
  ('nvlink bytes received', 'NVLink RX Bandwidth', 'percent'),
  ('nvlink rx throughput', 'NVLink RX Bandwidth', 'percent'),
  ('nvlink rx bandwidth', 'NVLink RX Bandwidth', 'percent'),
  ('nvlink bytes transmitted', 'NVLink TX Bandwidth', 'percent'),
  ('nvlink tx throughput', 'NVLink TX Bandwidth', 'percent'),
  ('nvlink tx bandwidth', 'NVLink TX Bandwidth', 'percent'),
  ('pcie read throughput', 'PCIe RX Throughput', 'percent'),
  ('pcie rx throughput', 'PCIe RX Throughput', 'percent'),
  ('pcie rx bandwidth', 'PCIe RX Throughput', 'percent'),
  ('pcie write throughput', 'PCIe TX Throughput', 'percent'),
  ('pcie tx throughput', 'PCIe TX Throughput', 'percent'),
  ('pcie tx bandwidth', 'PCIe TX Throughput', 'percent'),
  ('pcie read requests to bar1', 'PCIe Read Requests to BAR1', 'requests'),
  ('pcie write requests to bar1', 'PCIe Write Requests to BAR1', 'requests')
),
-- The name and the unit: SM Issue [Throughput %] and SM Issue %.
split AS (
  SELECT
    typeId AS type_id,
    metricId AS raw_metric_id,
    min(typeName) AS set_name,
    min(metricName) AS metric_name,
    CASE
      WHEN min(metricName) GLOB '* [[]*]' THEN rtrim(substr(min(metricName), 1, instr(min(metricName), '[') - 1))
      WHEN min(metricName) GLOB '*%' THEN rtrim(min(metricName), ' %')
      ELSE trim(min(metricName))
    END AS name,
    CASE
      WHEN min(metricName) GLOB '* [[]*]' THEN rtrim(substr(min(metricName), instr(min(metricName), '[') + 1), ']')
      WHEN min(metricName) GLOB '*%' THEN '%'
    END AS unit_word
  FROM src_target_gpu_metric
  GROUP BY typeId, metricId
),
named AS (
  SELECT
    split.*,
    coalesce(vocabulary.metric, split.name) AS metric,
    CASE
      WHEN unit_word GLOB '*%' THEN 'percent'
      WHEN unit_word IN ('Hz', 'MHz', 'GHz') THEN 'MHz'
      ELSE coalesce(lower(unit_word), vocabulary.unit)
    END AS unit
  FROM split
  LEFT JOIN vocabulary
    ON vocabulary.alias = lower(split.name)
),
distinct_in_set AS (
  SELECT
    *,
    iif(
      count(*) OVER (PARTITION BY type_id, metric, unit) > 1,
      metric || coalesce(' (' || unit_word || ')', ''),
      metric
    ) AS full_metric
  FROM named
)
SELECT
  type_id,
  raw_metric_id,
  type_id & 255 AS gpu_id,
  dense_rank() OVER (ORDER BY full_metric, unit) AS metric_id,
  dense_rank() OVER (ORDER BY type_id & 255, full_metric, unit) AS series_id,
  full_metric AS metric,
  unit,
  metric_name,
  set_name
FROM distinct_in_set
