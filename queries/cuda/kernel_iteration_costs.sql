/*---
name: kernel_iteration_costs
version: 2
title: Cost of kernels by iteration
summary: Mean duration per kernel and launch shape, with its error over iterations.
why: To measure noise between iterations. Calls that differ in the same way within every iteration add none.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [all_nvtx_span, kernel, nvtx_name, nvtx_op, nvtx_projection, string]
requires: [kernel, nvtx_projection]
params:
  - {name: tag, type: text, default: "step *", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name. The matching ranges are the iterations, as in the query iterations: of nested ranges with the same folded name, the outermost."}
columns:
  - {name: calls, type: int, unit: count, priority: 1, doc: "Executions that an iteration launched."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: mean_error_ns, type: duration, unit: ns, priority: 1, doc: "Standard error of mean_ns over iterations: mean_error() of (total of an iteration - its calls * mean_ns), per call; null for one iteration."}
  - {name: iteration_count, type: int, unit: count, label: "iterations", priority: 1, doc: "Iterations that launched the kernel. The n-th iterations of all threads, such as one step of all ranks, count as one."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name."}
checks:
  - calls >= iteration_count AND iteration_count >= 1
  - (iteration_count = 1) = (mean_error_ns IS NULL)
when_empty: "no range that launched kernels matches the tag: range_names lists the names, and -p tag=GLOB takes one"
limits: >-
  A kernel belongs to the iteration of its process that started last before the launch, even if that iteration had
  ended. Use --iter to leave out what no iteration launched. Kernels without a recorded launch, and kernels of a CUDA
  graph traced as a whole, are not included. If several threads of one process run iterations at once, the start times
  alone decide which iteration a kernel belongs to. Iterations of several threads are assumed to run side by side: the
  first ones of all threads count as one iteration, and so on.
see_also: [kernel_costs, iterations, nvtx_kernels]
---*/
WITH
-- reached_ns shows which ranges lie inside another range of their sequence. A range that never ended contains none.
reached AS (
  SELECT
    range.*,
    max(
      iif(range.range_id IN (SELECT range_id FROM all_nvtx_span WHERE end_ns IS NULL), NULL, range.end_ns)
    ) OVER (
      PARTITION BY name.layer_name, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM nvtx_name AS name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE name.layer_name GLOB :tag
    OR name.range_name GLOB :tag
    OR name.range_text GLOB :tag
),
instance AS (
  SELECT
    global_pid,
    range_id,
    start_ns,
    row_number() OVER (PARTITION BY global_pid ORDER BY start_ns, range_id) AS place,
    -- One step of all ranks is one measurement, because the ranks share its disturbances.
    row_number() OVER (PARTITION BY global_tid ORDER BY start_ns, range_id) AS iteration
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
),
-- Iterations and launches in order of time. A launch belongs to the iteration that started last.
event AS (
  SELECT global_pid, start_ns AS at_ns, 0 AS is_launch, range_id, NULL AS kernel_id
  FROM instance
  UNION ALL
  SELECT global_pid, call_start_ns AS at_ns, 1 AS is_launch, NULL AS range_id, op_id AS kernel_id
  FROM nvtx_op
  WHERE op_kind = 'kernel'
    AND call_start_ns IS NOT NULL
),
placed AS MATERIALIZED (
  SELECT
    kernel_id,
    global_pid,
    count(range_id) OVER (
      PARTITION BY global_pid
      ORDER BY at_ns, is_launch, range_id, kernel_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place
  FROM event
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
-- Time of an iteration minus its calls at the mean of all iterations.
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
