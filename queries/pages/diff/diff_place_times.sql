/*---
name: diff_place_times
version: 1
title: Kernels by their place in the step
summary: Mean time of the first, second, ... launch of a kernel in each step.
why: To find the one launch of many that changed.
kind: sum
tags: [gpu, kernel, nvtx]
internal: true
reads: [kernel, nvtx_op, nvtx_path, stalled_step, step_window, string]
requires: [kernel]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to count only work in steps, if the report has any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
columns:
  - {name: name, type: text, priority: 0, doc: "Demangled kernel name."}
  - {name: shape, type: text, priority: 1, doc: "Grid / block."}
  - {name: nth, type: int, label: "launch", priority: 0, doc: "Place among the launches of this kernel and shape in the step, from 1, in the order of their starts."}
  - {name: nth_count, type: int, unit: count, label: "of", priority: 0, doc: "Launches of this kernel and shape in each step."}
  - {name: path, type: text, priority: 1, doc: "Path of the innermost NVTX range around the launch in the first of the steps; null without one."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Steps that are compared, on all GPUs: up to 24 on each."}
  - {name: mean_ns, type: duration, unit: ns, priority: 0, doc: "Mean execution time."}
  - {name: error_ns, type: duration, unit: ns, label: "error of the mean", priority: 2, doc: "Standard error of mean_ns, which is mean_error() over steps."}
  - {name: freedom_ns, type: duration, unit: ns, priority: 3, doc: "error_ns divided by the square root of its degrees of freedom."}
checks:
  - nth BETWEEN 1 AND nth_count
when_empty: "the report has fewer than five steps, or no kernel is launched several times, and equally often, in each step"
limits: >-
  Kernels with 1 % of the kernel time of the steps, that each step launches equally often, 2 to 128 times. Up to 24
  of each GPU's steps that count in diff_gpu_work, evenly spread.
see_also: [diff_spots, diff_gpu_work]
---*/
WITH
-- Some steps, evenly spread, tell one launch from another.
step AS MATERIALIZED (
  SELECT
    pid << 10 | device_id AS gpu_key,
    start_ns,
    end_ns,
    row_number() OVER (PARTITION BY pid, device_id ORDER BY start_ns, end_ns) AS number,
    count(*) OVER (PARTITION BY pid, device_id) AS step_count
  FROM step_window
  WHERE :per_iteration
    AND iif(:skip IS NULL, part IN ('median', 'steady'), step >= :skip)
    AND (global_tid, step) NOT IN (SELECT global_tid, step FROM stalled_step)
),
counted AS MATERIALIZED (
  SELECT time_places(gpu_key, start_ns, end_ns) AS places, max(step_count) AS step_count
  FROM step
  WHERE number * 24 / step_count > (number - 1) * 24 / step_count
    OR step_count <= 24
),
placed AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      kernel_id,
      name_id,
      grid_x,
      grid_y,
      grid_z,
      block_x,
      block_y,
      block_z,
      start_ns,
      dur_ns,
      place_of((SELECT places FROM counted), pid << 10 | device_id, start_ns) AS place
    FROM kernel
    WHERE (SELECT step_count >= 5 FROM counted)
  )
  WHERE place IS NOT NULL
),
shape AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY total_ns DESC, name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z) AS shape_id,
    *
  FROM (
    SELECT
      name_id,
      grid_x,
      grid_y,
      grid_z,
      block_x,
      block_y,
      block_z,
      sum(dur_ns) AS total_ns,
      100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER () AS time_pct,
      count(*) / count(DISTINCT place) AS launches
    FROM placed
    GROUP BY name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
  )
  WHERE time_pct >= 1
    AND launches BETWEEN 2 AND 128
),
numbered AS MATERIALIZED (
  SELECT
    shape.shape_id,
    placed.kernel_id,
    placed.place,
    placed.start_ns,
    placed.dur_ns,
    row_number() OVER (PARTITION BY shape.shape_id, placed.place ORDER BY placed.start_ns, placed.kernel_id) AS nth,
    count(*) OVER (PARTITION BY shape.shape_id, placed.place) AS nth_count
  FROM shape
  JOIN placed
    ON placed.name_id = shape.name_id
    AND placed.grid_x = shape.grid_x
    AND placed.grid_y = shape.grid_y
    AND placed.grid_z = shape.grid_z
    AND placed.block_x = shape.block_x
    AND placed.block_y = shape.block_y
    AND placed.block_z = shape.block_z
),
regular AS MATERIALIZED (
  SELECT shape_id
  FROM numbered
  GROUP BY shape_id
  HAVING min(nth_count) = max(nth_count)
    AND max(nth_count) BETWEEN 2 AND 128
),
summed AS (
  SELECT
    numbered.shape_id,
    numbered.nth,
    max(numbered.nth_count) AS nth_count,
    min(numbered.kernel_id) AS kernel_id,
    count(*) AS calls,
    avg(numbered.dur_ns) AS mean_ns,
    mean_error_by(numbered.place, numbered.start_ns, numbered.dur_ns) AS error_ns,
    mean_freedom_by(numbered.place) AS freedom
  FROM regular
  JOIN numbered
    ON numbered.shape_id = regular.shape_id
  GROUP BY numbered.shape_id, numbered.nth
),
-- GPU timestamps are multiples of up to 32 ns, so a mean is at best as exact as that allows.
known AS (
  SELECT *, max(error_ns, 32 / sqrt(12.0 * calls)) AS least_error_ns
  FROM summed
)
SELECT
  (SELECT text FROM string WHERE string_id = shape.name_id) AS name,
  shape.grid_x || 'x' || shape.grid_y || 'x' || shape.grid_z || ' / '
  || shape.block_x || 'x' || shape.block_y || 'x' || shape.block_z AS shape,
  known.nth,
  known.nth_count,
  (
    SELECT NULL
    FROM nvtx_op
    JOIN nvtx_path
      ON nvtx_path.path_id = nvtx_op.path_id
    WHERE nvtx_op.op_kind = 'kernel'
      AND nvtx_op.op_id = known.kernel_id
  ) AS path,
  known.calls,
  known.mean_ns,
  known.least_error_ns AS error_ns,
  known.least_error_ns / sqrt(known.freedom) AS freedom_ns
FROM known
JOIN shape
  ON shape.shape_id = known.shape_id
ORDER BY shape.shape_id, known.nth
