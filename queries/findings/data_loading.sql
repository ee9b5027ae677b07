/*---
name: data_loading
version: 1
title: The GPU waits for data
summary: Idle time of a GPU while the launching thread is in a range that loads data.
why: To see whether the input pipeline keeps up with the GPU.
kind: finding
tags: [cuda, gpu, nvtx]
reads: [compute_gap_part, nvtx_name, nvtx_projection]
rows_if: EXISTS (SELECT 1 FROM nvtx_name WHERE phase = 'data')
finding:
  claim: "Data loading: the GPU idles while the launching thread is in an NVTX range that loads data."
  ceiling: Time without a compute kernel inside ranges that load, fetch, read or generate data by their names, before the next launch.
  remedy: >-
    Load and decode the next data in other threads or processes while the GPU runs.
  in_pytorch: >-
    DataLoader(num_workers=..., prefetch_factor=..., pin_memory=True) and copies with non_blocking=True; DALI decodes on the GPU.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  narrows: [host_work, iteration_border, launch_bound]
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the range."}
  - {name: subject, type: text, label: "NVTX range", priority: 0, doc: "Outermost range that loads data, each number replaced by *."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Ranges that load data are found by name only: those of the phase data that say load, fetch, get, next, read, iter or
  generate. range_names lists the phases. Data that is loaded outside an NVTX range is host_work.
see_also: [host_work, phases, range_names]
---*/
WITH
-- The phase data also has names such as preprocess, h2d and batch_to_device, which do not load.
loading AS MATERIALIZED (
  SELECT name_id
  FROM nvtx_name
  WHERE phase = 'data'
    AND (
      lower(layer_name) GLOB '*load*'
      OR lower(layer_name) GLOB '*fetch*'
      OR lower(layer_name) GLOB '*iter*'
      OR lower(layer_name) GLOB '*generat*'
      OR lower(layer_name) GLOB '*read*'
      OR lower(layer_name) GLOB '*get[_ -]*'
      OR lower(layer_name) GLOB '*next[_ -]*'
    )
),
range AS MATERIALIZED (
  SELECT range_id, start_ns, end_ns, global_tid, name_id
  FROM nvtx_projection
  WHERE name_id IN (SELECT name_id FROM loading)
),
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, after_name, global_tid
  FROM compute_gap_part
  WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API')
    AND dur_ns >= :least
    AND global_tid IN (SELECT global_tid FROM range)
    AND end_ns > (SELECT min(start_ns) FROM range)
    AND start_ns < (SELECT max(end_ns) FROM range)
),
met AS MATERIALIZED (
  SELECT span_id AS idle_id, by_id AS range_id, start_ns, end_ns - start_ns AS dur_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, idle_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, range_id, start_ns, end_ns) FROM range)
  )
  WHERE by_id IS NOT NULL
)
SELECT
  idle.gpu_id,
  met.start_ns,
  met.dur_ns,
  nvtx_name.layer_name AS subject,
  idle.after_name
FROM met
JOIN idle
  ON idle.idle_id = met.idle_id
JOIN range
  ON range.range_id = met.range_id
JOIN nvtx_name
  ON nvtx_name.name_id = range.name_id
WHERE met.dur_ns >= :least
ORDER BY idle.gpu_id, met.start_ns, idle.idle_id
