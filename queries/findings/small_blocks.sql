/*---
name: small_blocks
version: 2
title: Blocks that leave lanes of their warps empty
summary: Time that kernels would save if their blocks filled whole warps.
why: To find kernels whose block size wastes most of each warp.
kind: finding
tags: [cuda, gpu, kernel]
reads: [gpu_overlap, kernel]
finding:
  claim: "Partial warps: kernels run with blocks that are smaller than a warp, or no multiple of a warp."
  ceiling: The share of empty lanes of the time in which these kernels ran alone on its GPU, without 3 microseconds that every kernel takes.
  remedy: >-
    Launch blocks of 128 or 256 threads, a multiple of 32, with one element for each thread.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#thread-and-block-heuristics
  confidence: medium
  frees: kernels
  narrows: [below_roofline]
params:
  - {name: at_least, type: duration, default: 5us, min: 0, doc: "Shortest kernel to count: shorter ones take mostly the time of a launch."}
  - {name: fixed, type: duration, default: 3us, min: 0, doc: "Time that a kernel takes even with little work. Full warps do not shorten it."}
  - {name: empty_pct, type: real, default: 25, min: 0, max: 100, doc: "Smallest share of empty lanes, in percent."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel, and its launch shape."}
  - {name: threads, type: int, unit: count, label: "threads in a block", priority: 1, doc: "Threads in each block."}
  - {name: blocks, type: int, unit: count, priority: 1, doc: "Blocks of the launch."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
limits: >-
  A kernel that waits for memory may gain less. Time in which other work ran on the GPU is taken off.
see_also: [few_blocks, cuda_gpu_kern_gb_sum]
---*/
WITH
shape AS (
  SELECT
    kernel_id,
    printf(
      '%s, %d threads in %s%,d %s',
      coalesce(short_name, kernel_name, '(no name)'),
      block_x * block_y * block_z,
      iif(grid_x * grid_y * grid_z = 1, '', 'each of '),
      grid_x * grid_y * grid_z,
      iif(grid_x * grid_y * grid_z = 1, 'block', 'blocks')
    ) AS subject,
    block_x * block_y * block_z AS threads,
    (block_x * block_y * block_z + 31) / 32 * 32 AS lanes,
    grid_x * grid_y * grid_z AS blocks
  FROM kernel
  -- The times first: of most kernels, no more is read.
  WHERE dur_ns >= :at_least
    AND block_x * block_y * block_z % 32 > 0
),
freed AS (
  SELECT
    op.gpu_id,
    op.end_ns,
    (op.dur_ns - :fixed) * (shape.lanes - shape.threads) / shape.lanes
      - max(op.concurrent_ns - op.communication_ns - op.memory_ns, 0) AS freed_ns,
    shape.*
  FROM shape
  JOIN gpu_overlap AS op
    ON op.op_kind = 'kernel'
    AND op.op_id = shape.kernel_id
  WHERE 100.0 * (shape.lanes - shape.threads) >= :empty_pct * shape.lanes
)
SELECT gpu_id, end_ns - freed_ns AS start_ns, freed_ns AS dur_ns, subject, threads, blocks, kernel_id
FROM freed
WHERE freed_ns > 0
ORDER BY gpu_id, start_ns, kernel_id
