/*---
name: cuda_gpu_kern_gb_sum
version: 2
title: CUDA GPU kernel summary by grid and block
summary: GPU time per kernel name and launch shape, largest total first.
why: To distinguish the problem sizes that one kernel is launched with.
kind: sum
tags: [cuda, kernel]
reads: [kernel, nvtx_op, string]
requires: [kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
  - {name: nvtx_name, type: bool, default: false, doc: "Prefix the kernel name with the innermost NVTX range around its launch, and a slash."}
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: grid_x, type: int, unit: count, priority: 1, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, priority: 1, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name, after the NVTX range if nvtx_name is true."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no kernel was recorded"
limits: >-
  Durations are added up over all devices, processes and streams, so the sum can exceed the length of the capture.
  Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_gpu_kern_sum, top_kernels, cuda_gpu_trace]
nsys:
  title: CUDA GPU Kernel/Grid/Block Summary
  aliases: [gpukerngbsum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  lacks:
    - {says: "CUDA kernel data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: GridXYZ, sql: "printf('%4d %4d %4d', grid_x, grid_y, grid_z)"}
    - {name: BlockXYZ, sql: "printf('%4d %4d %4d', block_x, block_y, block_z)"}
    - {name: Name, sql: kernel_name}
---*/
WITH
-- Group by name ID, not text: it is many times faster.
by_name_and_shape AS (
  SELECT
    CASE :name WHEN 'demangled' THEN name_id WHEN 'short' THEN short_name_id ELSE mangled_name_id END AS name_id,
    CASE
      WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
    END AS range_prefix,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM kernel
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  coalesce(range_prefix, '') || (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
FROM by_name_and_shape
ORDER BY
  total_ns DESC, calls DESC, kernel_name, name_id, range_prefix, grid_x, grid_y, grid_z, block_x, block_y, block_z
