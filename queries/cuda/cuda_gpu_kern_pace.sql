/*---
name: cuda_gpu_kern_pace
version: 1
title: Pace of a kernel
summary: Each run of the matching kernels, with the time since the run before it.
why: To see whether a kernel becomes slower, or comes less often, in the course of a run.
kind: trace
tags: [cuda, gpu, kernel]
reads: [kernel, string]
params:
  - {name: kernel, type: text, default: "*", doc: "GLOB pattern for the kernel name, the short or the demangled one."}
columns:
  - {name: run, type: int, priority: 0, doc: "Number of the run among those of this kernel, process and device, from 1, by start."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the execution, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "execution time", priority: 1, doc: "Execution time."}
  - {name: since_start_ns, type: duration, unit: ns, label: "start to start", priority: 1, doc: "Time from the start of the run before to this start; null for the first run."}
  - {name: since_end_ns, type: duration, unit: ns, label: "end to start", priority: 1, doc: "Time from the end of the run before to this start; negative if the runs overlap; null for the first run."}
  - {name: so_far_ns, type: duration, unit: ns, label: "total so far", priority: 2, doc: "Sum of the execution times up to and with this run."}
  - {name: dur_change_pct, type: percent, unit: percent, label: "change from first run", priority: 2, doc: "dur_ns compared with the first run: 100 is twice as long; null if the first run has no length."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: device_id, type: id, label: "device", priority: 2, doc: "CUDA device ordinal within its process."}
  - {name: stream_id, type: id, label: "stream", priority: 3, doc: "CUDA stream ID, unique within its context."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name."}
checks:
  - run >= 1 AND dur_ns >= 0 AND so_far_ns >= dur_ns
  - (run = 1) = (since_start_ns IS NULL)
when_empty: "no kernel name matches -p kernel=GLOB; top_kernels lists the names, and a part of a name needs stars: *gemm*"
limits: >-
  Runs of one name are one sequence per process and device, whatever their stream, grid and block. Kernels of a CUDA graph
  traced as a whole are not included.
see_also: [cuda_gpu_kern_hist, top_kernels, nvtx_pace, kernel_iteration_costs]
---*/
WITH
wanted AS MATERIALIZED (
  SELECT
    name_id,
    short_name_id,
    kernel_name,
    dense_rank() OVER (ORDER BY kernel_name, name_id) AS name_place
  FROM (
    SELECT
      name_id,
      short_name_id,
      (SELECT text FROM string WHERE string_id = name_id) AS kernel_name,
      (SELECT text FROM string WHERE string_id = short_name_id) AS short_name
    FROM (SELECT DISTINCT name_id, short_name_id FROM kernel)
  )
  WHERE kernel_name GLOB :kernel
    OR short_name GLOB :kernel
),
-- Sorting numbers is many times faster than sorting names.
run AS (
  SELECT
    wanted.name_place,
    wanted.kernel_name,
    kernel.global_pid,
    kernel.device_id,
    kernel.start_ns,
    kernel.end_ns,
    kernel.dur_ns,
    kernel.pid,
    kernel.stream_id,
    kernel.kernel_id
  FROM kernel
  JOIN wanted
    ON wanted.name_id = kernel.name_id
    AND wanted.short_name_id = kernel.short_name_id
),
paced AS (
  SELECT
    row_number() OVER sequence AS run,
    start_ns,
    dur_ns,
    start_ns - lag(start_ns) OVER sequence AS since_start_ns,
    start_ns - lag(end_ns) OVER sequence AS since_end_ns,
    sum(dur_ns) OVER sequence AS so_far_ns,
    first_value(dur_ns) OVER sequence AS first_ns,
    pid,
    device_id,
    stream_id,
    kernel_id,
    kernel_name,
    name_place,
    global_pid
  FROM run
  WINDOW sequence AS (PARTITION BY name_place, global_pid, device_id ORDER BY start_ns, kernel_id)
)
SELECT
  run,
  start_ns,
  dur_ns,
  since_start_ns,
  since_end_ns,
  so_far_ns,
  100.0 * (dur_ns - first_ns) / nullif(first_ns, 0) AS dur_change_pct,
  pid,
  device_id,
  stream_id,
  kernel_id,
  kernel_name
FROM paced
ORDER BY name_place, global_pid, device_id, run, kernel_id
