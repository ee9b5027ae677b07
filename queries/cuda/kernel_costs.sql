/*---
name: kernel_costs
version: 1
title: Cost of kernels by launch shape
summary: What a call of each kernel and launch shape costs, and how sure that is.
why: To compare a kernel with itself - in another run, at another time - at the same amount of work.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
columns:
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: mean_error_ns, type: duration, unit: ns, doc: "Standard error of mean_ns, by mean_error(); null for one."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of execution times; 0 for one."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: kernel_name, type: text, doc: "Demangled name."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - (calls = 1) = (mean_error_ns IS NULL)
limits: >-
  Adds up all processes, devices and streams. A launch shape stands for an amount of work, and can be wrong: matrix
  products of one output size may differ in their inner length. mean_error_ns knows the spread within the run, not what
  differs from run to run. Kernels of a CUDA graph that was traced as a whole are not in it.
see_also: [cuda_gpu_kern_gb_sum, top_kernels, cuda_api_costs, memory_op_sizes]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
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
