/*---
name: tail_waves
version: 1
title: Kernels whose last wave leaves multiprocessors idle
summary: Time that kernels would save if their last wave used all multiprocessors.
why: To find kernels whose grid is a little larger than the GPU can run at once.
kind: finding
tags: [cuda, gpu, kernel]
reads: [gpu, gpu_overlap, gpu_window, kernel]
finding:
  claim: "Tail effect: the last wave of blocks leaves SMs of the GPU without work."
  ceiling: The share of multiprocessors without a block in the last wave, if every wave takes the same time and no other work runs on the GPU.
  remedy: >-
    Choose a tile or batch size whose blocks fill whole waves, use a persistent or stream-K kernel, or run independent kernels at the same time.
  in_pytorch: >-
    torch.compile(mode="max-autotune"), or dimensions padded to multiples of the tile.
  link: https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
  confidence: medium
  frees: kernels
  narrows: [below_roofline]
params:
  - {name: at_least, type: duration, default: 10us, min: 0, doc: "Shortest kernel to count: shorter ones take mostly the time of a launch."}
  - {name: kernel_pct, type: real, default: 10, min: 0, max: 100, doc: "Smallest share of a kernel that it must save, in percent."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel."}
  - {name: blocks, type: int, unit: count, priority: 1, doc: "Blocks of the launch."}
  - {name: wave_blocks, type: int, unit: count, label: "blocks of a full wave", priority: 1, doc: "Blocks that the GPU can run at once."}
  - {name: last_blocks, type: int, unit: count, label: "blocks of the last wave", priority: 1, doc: "Blocks of the last wave."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
checks:
  - dur_ns > 0
  - blocks > wave_blocks
  - last_blocks > 0 AND last_blocks < wave_blocks
when_empty: "no kernel loses notable time in its last wave"
limits: >-
  How many blocks fit on a multiprocessor follows from threads, registers and shared memory, as in the CUDA occupancy
  calculator, for compute capability 7.0 and later. Blocks of unequal length, clusters and a small shared memory
  carve-out change the waves. A last wave with a block on every multiprocessor does not count, because fewer blocks can
  often use a multiprocessor fully. Kernels with fewer blocks than multiprocessors are in few_blocks. Kernels in green
  contexts, GPUs of unknown size, and imported PyTorch traces without shared memory give no rows.
see_also: [few_blocks, small_blocks, cuda_gpu_kern_gb_sum]
---*/
WITH
size AS (
  SELECT
    gpu_id,
    max(sm_count) AS sm_count,
    max(sm_warps) AS sm_warps,
    max(sm_blocks) AS sm_blocks,
    max(sm_registers) AS sm_registers,
    max(sm_shared_bytes) AS sm_shared_bytes,
    -- The driver takes 1 KiB of shared memory for each block.
    max(iif(CAST(compute_capability AS REAL) >= 8, 1024, 0)) AS driver_bytes,
    max(iif(CAST(compute_capability AS REAL) >= 8, 128, 256)) AS shared_unit
  FROM gpu
  WHERE CAST(compute_capability AS REAL) >= 7
  GROUP BY gpu_id
),
shape AS (
  SELECT
    kernel_id,
    grid_x * grid_y * grid_z AS blocks,
    (block_x * block_y * block_z + 31) / 32 AS warps,
    -- A warp gets registers in units of 256.
    (32 * registers_per_thread + 255) / 256 * 256 AS warp_registers,
    static_shared_bytes + dynamic_shared_bytes AS shared_bytes
  FROM kernel
  -- The times first: of most kernels, no more is read.
  WHERE dur_ns >= :at_least
    AND grid_x * grid_y * grid_z > (SELECT min(sm_count) FROM size)
    AND registers_per_thread > 0
    AND block_x * block_y * block_z > 0
    AND green_context_id IS NULL
),
placed AS (
  SELECT
    op.gpu_id,
    op.end_ns,
    op.dur_ns,
    op.concurrent_ns,
    shape.kernel_id,
    shape.blocks,
    size.sm_count,
    size.sm_count * min(
      size.sm_blocks,
      size.sm_warps / shape.warps,
      -- Each of the four parts of a multiprocessor has a quarter of the registers.
      size.sm_registers / 4 / shape.warp_registers * 4 / shape.warps,
      size.sm_shared_bytes / max(
        (shape.shared_bytes + size.driver_bytes + size.shared_unit - 1) / size.shared_unit * size.shared_unit,
        1
      )
    ) AS wave_blocks
  -- Kernels first: few are looked up.
  FROM shape
  CROSS JOIN gpu_overlap AS op
  JOIN size
    ON size.gpu_id = op.gpu_id
  WHERE op.op_kind = 'kernel'
    AND op.op_id = shape.kernel_id
    AND op.activity = 'compute'
),
freed AS (
  SELECT
    *,
    blocks % wave_blocks AS last_blocks,
    dur_ns * (sm_count - blocks % wave_blocks) / sm_count / (blocks / wave_blocks + 1) AS wave_ns
  FROM placed
  WHERE wave_blocks > 0
    AND blocks > wave_blocks
    AND blocks % wave_blocks BETWEEN 1 AND sm_count - 1
),
counted AS (
  SELECT *, wave_ns - concurrent_ns AS freed_ns, sum(wave_ns - concurrent_ns) OVER (PARTITION BY gpu_id) AS total_ns
  FROM freed
  WHERE wave_ns > concurrent_ns
    AND 100.0 * wave_ns >= :kernel_pct * dur_ns
)
SELECT
  counted.gpu_id,
  counted.end_ns - counted.freed_ns AS start_ns,
  counted.freed_ns AS dur_ns,
  (
    SELECT coalesce(short_name, kernel_name, '(no name)')
    FROM kernel
    WHERE kernel.kernel_id = counted.kernel_id
  ) AS subject,
  counted.blocks,
  counted.wave_blocks,
  counted.last_blocks,
  counted.kernel_id
FROM counted
JOIN gpu_window
  ON gpu_window.gpu_id = counted.gpu_id
WHERE 100.0 * counted.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY counted.gpu_id, start_ns, counted.kernel_id
