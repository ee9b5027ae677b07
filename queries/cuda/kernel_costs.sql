/*---
name: kernel_costs
version: 1
title: Cost of kernels by launch shape
summary: Mean duration of each kernel and launch shape, with its standard error.
why: To compare a kernel doing the same amount of work between two runs, or between two parts of a run.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
columns:
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: mean_error_ns, type: duration, unit: ns, priority: 1, doc: "Standard error of mean_ns, from mean_error(); null for one execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: grid_x, type: int, unit: count, priority: 1, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - (calls = 1) = (mean_error_ns IS NULL)
when_empty: "no kernel was recorded"
limits: >-
  Sums cover all processes, devices and streams. The launch shape stands for the amount of work, which can be wrong:
  matrix products of one output size can differ in their inner dimension. mean_error_ns covers the spread within the
  run, not differences between runs. Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_gpu_kern_gb_sum, top_kernels, cuda_api_costs, memory_op_sizes]
---*/
WITH
-- Group by name ID, not text: it is many times faster.
by_shape AS (
  SELECT
    name_id,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    mean_error(start_ns, dur_ns) AS mean_error_ns,
    stddev(dur_ns) AS stddev_ns
  FROM kernel
  GROUP BY name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
)
SELECT
  calls,
  total_ns,
  mean_ns,
  mean_error_ns,
  stddev_ns,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
FROM by_shape
ORDER BY total_ns DESC, calls DESC, kernel_name, name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
