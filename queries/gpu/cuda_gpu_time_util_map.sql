/*---
name: cuda_gpu_time_util_map
version: 1
title: Utilization of GPUs over time
summary: Share of each piece of time in which kernels, collectives and copies ran.
why: To see when each GPU was busy, and when communication hid behind compute.
kind: sum
tags: [communication, cuda, gpu, kernel]
reads: [gpu_window]
requires: [gpu_window]
params:
  - {name: bins, type: int, default: 30, min: 1, max: 10000, doc: "Pieces of equal length, from the first to the last operation of any GPU."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: bin_id, type: id, label: "bin", priority: 0, doc: "Number of the piece of time, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "length", priority: 3, doc: "Length of the piece."}
  - {name: kernel_pct, type: percent, unit: percent, label: "kernels", priority: 1, doc: "Share of the piece in which a kernel ran."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute", priority: 1, doc: "Share in which a compute kernel ran."}
  - {name: communication_pct, type: percent, unit: percent, label: "communication", priority: 1, doc: "Share in which a communication kernel ran."}
  - {name: overlap_pct, type: percent, unit: percent, label: "both", priority: 1, doc: "Share in which compute and communication ran together."}
  - {name: memory_pct, type: percent, unit: percent, label: "copies", priority: 1, doc: "Share in which a copy or fill ran."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle", priority: 1, doc: "Share in which nothing ran."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 3, doc: "Time in which a kernel ran."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute time", priority: 3, doc: "Time in which a compute kernel ran."}
  - {name: communication_ns, type: duration, unit: ns, label: "communication time", priority: 3, doc: "Time in which a communication kernel ran."}
  - {name: overlap_ns, type: duration, unit: ns, label: "time of both", priority: 3, doc: "Time in which compute and communication ran together."}
  - {name: memory_ns, type: duration, unit: ns, label: "copy time", priority: 3, doc: "Time in which a copy or fill ran."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle time", priority: 3, doc: "Time in which nothing ran."}
checks:
  - kernel_ns + idle_ns <= dur_ns AND overlap_ns <= compute_ns AND overlap_ns <= communication_ns
  - kernel_ns = compute_ns + communication_ns - overlap_ns
when_empty: "the GPU work takes fewer ns than there are pieces: choose fewer with -p bins=N"
limits: >-
  Time in which several kernels ran counts once. Communication is NCCL and similar libraries, recognized by kernel name. A
  CUDA graph traced as a whole counts as compute. With several reports, each has pieces of its own.
see_also: [gpu_time, comm_overlap, mpi_gpu_time_util_map, gpu_time_util]
---*/
WITH RECURSIVE
whole AS (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM gpu_window
),
number AS (
  SELECT 0 AS bin
  UNION ALL
  SELECT bin + 1 FROM number WHERE bin + 1 < :bins
),
-- The last piece is longer by what the division leaves.
bin AS MATERIALIZED (
  SELECT
    bin,
    start_ns + bin * ((end_ns - start_ns) / :bins) AS from_ns,
    iif(bin + 1 = :bins, end_ns, start_ns + (bin + 1) * ((end_ns - start_ns) / :bins)) AS to_ns
  FROM number
  CROSS JOIN whole
  WHERE end_ns - start_ns >= :bins
),
used AS (
  SELECT
    gpu.gpu_id,
    bin.bin,
    bin.from_ns,
    bin.to_ns - bin.from_ns AS dur_ns,
    gpu.compute_ns + gpu.exposed_communication_ns AS kernel_ns,
    gpu.compute_ns,
    gpu.communication_ns,
    gpu.communication_ns - gpu.exposed_communication_ns AS overlap_ns,
    gpu.memory_ns,
    gpu.idle_ns
  FROM bin
  CROSS JOIN gpu_window AS gpu
  WHERE gpu.start_ns = bin.from_ns
    AND gpu.end_ns = bin.to_ns
)
SELECT
  gpu_id,
  bin AS bin_id,
  from_ns AS start_ns,
  dur_ns,
  100.0 * kernel_ns / dur_ns AS kernel_pct,
  100.0 * compute_ns / dur_ns AS compute_pct,
  100.0 * communication_ns / dur_ns AS communication_pct,
  100.0 * overlap_ns / dur_ns AS overlap_pct,
  100.0 * memory_ns / dur_ns AS memory_pct,
  100.0 * idle_ns / dur_ns AS idle_pct,
  kernel_ns,
  compute_ns,
  communication_ns,
  overlap_ns,
  memory_ns,
  idle_ns
FROM used
ORDER BY gpu_id, bin_id
