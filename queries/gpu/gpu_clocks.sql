/*---
name: gpu_clocks
version: 1
title: Clocks of the GPUs
summary: Each clock of each GPU, sampled during the steps or the GPU's window.
why: To see whether a GPU ran at a lower clock, which makes all of its kernels longer.
kind: sum
tags: [gpu]
reads: [gpu_metric, judged_step]
requires: [gpu_metric]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU."}
  - {name: clock, type: text, priority: 0, doc: "GPC: of the multiprocessors; SYS: of the front end and the copy engines."}
  - {name: mean_hz, type: real, unit: hz, label: "mean", priority: 1, doc: "Mean of the samples."}
  - {name: min_hz, type: int, unit: hz, label: "lowest", priority: 1, doc: "Smallest sample."}
  - {name: max_hz, type: int, unit: hz, label: "highest", priority: 1, doc: "Largest sample."}
  - {name: sample_count, type: int, unit: count, label: "samples", priority: 2, doc: "Samples in the steps after the warm-up; without steps, from the first GPU operation to the last."}
when_empty: "no clock was sampled while the GPU worked"
limits: >-
  A clock falls while a GPU idles, too: compare it between runs of one program. Samples without GPU work outside the steps are left out.
see_also: [gpu_metric_sum, gpu_time, steps]
---*/
WITH
sample AS (
  SELECT
    gpu_id,
    substr(metric_name, 1, instr(metric_name, ' Clock') - 1) AS clock,
    -- Some versions give MHz.
    iif(value < 1000000, 1000000 * value, value) AS hz
  FROM gpu_metric
  WHERE metric_name GLOB '* Clock Frequency*'
    AND place_of((SELECT time_places(gpu_id, start_ns, end_ns) FROM judged_step), gpu_id, start_ns) IS NOT NULL
)
SELECT
  gpu_id,
  clock,
  avg(hz) AS mean_hz,
  min(hz) AS min_hz,
  max(hz) AS max_hz,
  count(*) AS sample_count
FROM sample
GROUP BY gpu_id, clock
ORDER BY gpu_id, clock
