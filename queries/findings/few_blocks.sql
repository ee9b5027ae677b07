/*---
name: few_blocks
version: 2
title: Kernels with fewer blocks than the GPU has multiprocessors
summary: Time that kernels would save if their blocks used all multiprocessors.
why: To find kernels whose grid is too small for the GPU.
kind: finding
tags: [cuda, gpu, kernel]
reads: [gpu, gpu_overlap, kernel]
finding:
  claim: "Few blocks: kernels run alone with far fewer blocks than the GPU has SMs."
  ceiling: The share of idle multiprocessors of the time in which these kernels ran alone on its GPU, without 3 microseconds that every kernel takes.
  remedy: >-
    Split the work into more blocks (split-K, a larger batch, one block per row), or run independent kernels
    at the same time: on several streams, without waits of the host between them.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#thread-and-block-heuristics
  confidence: low
  frees: kernels
  narrows: [below_roofline]
params:
  - {name: at_least, type: duration, default: 10us, min: 0, doc: "Shortest kernel to count: shorter ones take mostly the time of a launch."}
  - {name: fixed, type: duration, default: 3us, min: 0, doc: "Time that a kernel takes even with little work. More blocks do not shorten it."}
  - {name: idle_pct, type: real, default: 25, min: 0, max: 100, doc: "Smallest share of idle multiprocessors, in percent."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel, its blocks, and the SMs that it could use."}
  - {name: blocks, type: int, unit: count, priority: 1, doc: "Blocks of the launch."}
  - {name: sm_count, type: int, unit: count, label: "SMs", priority: 1, doc: "Multiprocessors of the GPU."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
limits: >-
  Work that cannot be split gains nothing. Communication kernels use few blocks on purpose and do not count. Time in which other
  work ran on the GPU is taken off. GPUs of unknown size give no rows.
see_also: [small_blocks, tail_waves, cuda_gpu_kern_gb_sum]
---*/
WITH
size AS (
  SELECT gpu_id, max(sm_count) AS sm_count
  FROM gpu
  GROUP BY gpu_id
),
shape AS (
  SELECT
    kernel_id,
    coalesce(short_name, kernel_name, '(no name)') AS kernel_name,
    grid_x * grid_y * grid_z AS blocks
  FROM kernel
  -- The times first: of most kernels, no more is read.
  WHERE dur_ns >= :at_least
    AND grid_x * grid_y * grid_z < (SELECT max(sm_count) FROM size)
),
freed AS (
  SELECT
    op.gpu_id,
    op.end_ns,
    (op.dur_ns - :fixed) * (size.sm_count - shape.blocks) / size.sm_count
      - max(op.concurrent_ns - op.communication_ns - op.memory_ns, 0) AS freed_ns,
    shape.*,
    size.sm_count
  -- Kernels first: few are looked up.
  FROM shape
  CROSS JOIN gpu_overlap AS op
  JOIN size
    ON size.gpu_id = op.gpu_id
  WHERE op.op_kind = 'kernel'
    AND op.op_id = shape.kernel_id
    AND op.activity = 'compute'
    AND shape.blocks BETWEEN 1 AND size.sm_count - 1
    AND 100.0 * (size.sm_count - shape.blocks) >= :idle_pct * size.sm_count
)
SELECT
  gpu_id,
  end_ns - freed_ns AS start_ns,
  freed_ns AS dur_ns,
  printf('%s, %d %s for %d SMs', kernel_name, blocks, iif(blocks = 1, 'block', 'blocks'), sm_count) AS subject,
  blocks,
  sm_count,
  kernel_id
FROM freed
WHERE freed_ns > 0
ORDER BY gpu_id, start_ns, kernel_id
