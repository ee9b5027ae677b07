/*---
name: kernel_iteration_costs
version: 1
title: Cost of kernels over iterations
summary: Cost of a call of each kernel and launch shape, by spread over iterations.
why: Calls that differ within an iteration, but alike in each, make a wide spread over calls and none over iterations.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [kernel, nvtx_name, nvtx_op, nvtx_projection, string]
requires: [kernel, nvtx_projection]
params:
  - {name: tag, type: text, default: "step *", doc: "GLOB over the range's name, its text or its folded name: the ranges that are iterations."}
columns:
  - {name: calls, type: int, unit: count, doc: "Executions that an iteration launched."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: mean_error_ns, type: duration, unit: ns, doc: "Standard error of mean_ns: of an iteration's total less mean_ns for each call, by mean_error(), per call; null for one iteration."}
  - {name: iteration_count, type: int, unit: count, doc: "Iterations that launched it: those of the same place in their threads, such as a step of all ranks, are one."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: kernel_name, type: text, doc: "Demangled name."}
checks:
  - calls >= iteration_count AND iteration_count >= 1
  - (iteration_count = 1) = (mean_error_ns IS NULL)
limits: >-
  A kernel belongs to the iteration of its process that began last before its launch, even if that had ended: use it with
  --iter, which leaves out what no iteration launched. Kernels without a launch in the capture are not in it, nor are those
  of a CUDA graph that was traced as a whole. Where threads of one process run iterations at once, their kernels are told
  apart by time alone. Iterations of several threads are taken to run side by side: the first of each is one, and so on.
see_also: [kernel_costs, iterations, nvtx_kernels]
---*/
WITH
instance AS (
  SELECT
    range.global_pid,
    range.range_id,
    range.start_ns,
    row_number() OVER (PARTITION BY range.global_pid ORDER BY range.start_ns, range.range_id) AS place,
    -- What the ranks do in one step is one measurement: they share what disturbs it.
    row_number() OVER (PARTITION BY range.global_tid ORDER BY range.start_ns, range.range_id) AS iteration
  FROM nvtx_name AS name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE name.layer_name GLOB :tag
    OR name.range_name GLOB :tag
    OR name.range_text GLOB :tag
),
-- Iterations and launches in one order of time: a launch is of the iteration that began last.
event AS (
  SELECT global_pid, start_ns AS at_ns, 0 AS is_launch, range_id, NULL AS kernel_id
  FROM instance
  UNION ALL
  SELECT global_pid, call_start_ns AS at_ns, 1 AS is_launch, NULL AS range_id, op_id AS kernel_id
  FROM nvtx_op
  WHERE op_kind = 'kernel'
    AND call_start_ns IS NOT NULL
),
placed AS (
  SELECT
    kernel_id,
    global_pid,
    count(range_id) OVER (
      PARTITION BY global_pid
      ORDER BY at_ns, is_launch, range_id, kernel_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place
  FROM event
  LIMIT -1
),
by_iteration AS (
  SELECT
    kernel.name_id,
    kernel.grid_x,
    kernel.grid_y,
    kernel.grid_z,
    kernel.block_x,
    kernel.block_y,
    kernel.block_z,
    min(kernel.start_ns) AS at_ns,
    count(*) AS calls,
    sum(kernel.dur_ns) AS total_ns
  FROM kernel
  JOIN placed
    ON placed.kernel_id = kernel.kernel_id
  JOIN instance
    ON instance.global_pid = placed.global_pid
    AND instance.place = placed.place
  GROUP BY
    kernel.name_id,
    kernel.grid_x,
    kernel.grid_y,
    kernel.grid_z,
    kernel.block_x,
    kernel.block_y,
    kernel.block_z,
    instance.iteration
),
-- What an iteration takes more than its calls would at the mean of all.
apart AS (
  SELECT
    *,
    total_ns - 1.0 * calls * sum(total_ns) OVER shape / sum(calls) OVER shape AS apart_ns
  FROM by_iteration
  WINDOW shape AS (PARTITION BY name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z)
)
SELECT
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  1.0 * sum(total_ns) / sum(calls) AS mean_ns,
  mean_error(at_ns, apart_ns) * count(*) / sum(calls) AS mean_error_ns,
  count(*) AS iteration_count,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
FROM apart
GROUP BY name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
ORDER BY total_ns DESC, calls DESC, kernel_name, name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
