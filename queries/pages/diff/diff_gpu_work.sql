/*---
name: diff_gpu_work
version: 2
title: GPU work to compare
summary: Time of each kernel, copy and fill, with the error of the total.
why: To compare the work of two runs, like with like.
kind: sum
tags: [cuda, kernel, memory, nvtx]
internal: true
reads: [kernel, memcpy, memset, nvtx_op, nvtx_path, stalled_step, step_window, string]
requires: [kernel | memcpy | memset]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to count only work in steps, if the report has any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
columns:
  - {name: section, type: text, priority: 0, doc: "kernels, memory, layers, layers_cpu or api. layers is GPU time of NVTX ranges; layers_cpu is their CPU time, if no range launched GPU work."}
  - {name: name, type: text, priority: 0, doc: "Demangled kernel name; copy or fill with its kinds of memory; folded range name; API function."}
  - {name: shape, type: text, priority: 0, doc: "Grid / block of a kernel, size of a copy or fill, path of a range; empty for API functions. (other): all but the 5000 with the most time, or fewer if several take equally long."}
  - {name: path, type: text, priority: 2, doc: "Path of the innermost NVTX range around the launch of a kernel, of several the first in nvtx_path; empty if there is none, in other sections, and in reports with more than 1000 paths."}
  - {name: class, type: text, priority: 2, doc: "Class of a kernel; null in other sections."}
  - {name: collective, type: text, priority: 2, doc: "Collective of a communication kernel; null for all else."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Executions, ranges or calls."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their durations; overlapping ones count in full."}
  - {name: error_ns, type: duration, unit: ns, label: "error of the total", priority: 1, doc: "Standard error of total_ns: calls * error of the mean, which is mean_error() over steps if there are five or more, else over calls. A quarter of total_ns for a single value."}
  - {name: freedom_ns, type: duration, unit: ns, priority: 3, doc: "error_ns divided by the square root of its degrees of freedom, so that both add up over rows whose errors go in the same direction."}
  - {name: single_ns, type: duration, unit: ns, priority: 3, doc: "total_ns of what has a single value, so no known error."}
checks:
  - calls >= 1 AND error_ns >= 0
when_empty: "no kernel, copy or fill was recorded"
limits: >-
  A kernel or copy belongs to the step in whose window on its GPU it starts. The launch shape stands for the amount
  of work, which can be wrong: matrix products of one output size can differ in their inner dimension.
  The steps of a stall that happened once, as in stalled_step, do not count.
see_also: [kernel_costs, kernel_iteration_costs, memory_op_sizes, diff_ranges, diff_calls]
---*/
WITH
-- Windows of steps by process and GPU.
counted AS MATERIALIZED (
  SELECT time_places(pid << 10 | device_id, start_ns, end_ns) AS places, max(step_count) AS iteration_count
  FROM step_window
  WHERE :per_iteration
    AND iif(:skip IS NULL, part IN ('median', 'steady'), step >= :skip)
    AND (global_tid, step) NOT IN (SELECT global_tid, step FROM stalled_step)
),
mode AS MATERIALIZED (
  SELECT
    coalesce(iteration_count, 0) > 0 AS has_iterations,
    -- Noise comes from the spread over steps if there are enough.
    coalesce(iteration_count, 0) >= 5 AS is_by_iteration,
    (SELECT count(*) BETWEEN 1 AND 1000 FROM nvtx_path) AS has_paths
  FROM counted
),
-- Stored, the place is computed once, not again for each aggregate.
kernel_placed AS MATERIALIZED (
  SELECT
    kernel.name_id,
    kernel.grid_x,
    kernel.grid_y,
    kernel.grid_z,
    kernel.block_x,
    kernel.block_y,
    kernel.block_z,
    kernel.start_ns,
    kernel.dur_ns,
    iif(
      mode.has_paths,
      (SELECT path_id FROM nvtx_op WHERE nvtx_op.op_kind = 'kernel' AND nvtx_op.op_id = kernel.kernel_id),
      NULL
    ) AS path_id,
    iif(
      mode.has_iterations,
      place_of((SELECT places FROM counted), kernel.pid << 10 | kernel.device_id, kernel.start_ns),
      0
    ) AS place,
    mode.is_by_iteration
  FROM kernel
  CROSS JOIN mode
),
memory_op AS (
  SELECT 1 AS kind, copy_kind, src_kind, dst_kind, size_bytes, pid, device_id, start_ns, dur_ns
  FROM memcpy
  UNION ALL
  SELECT 2, NULL, NULL, mem_kind, size_bytes, pid, device_id, start_ns, dur_ns
  FROM memset
),
memory_placed AS (
  SELECT
    memory_op.*,
    iif(
      mode.has_iterations,
      place_of((SELECT places FROM counted), memory_op.pid << 10 | memory_op.device_id, memory_op.start_ns),
      0
    ) AS place,
    mode.is_by_iteration
  FROM memory_op
  CROSS JOIN mode
),
-- Kernels are many: sorted for themselves, each takes only the columns of its own.
gpu_sum AS MATERIALIZED (
  SELECT
    0 AS kind,
    name_id AS name_a,
    NULL AS name_b,
    NULL AS name_c,
    grid_x AS size_1,
    grid_y AS size_2,
    grid_z AS size_3,
    block_x AS size_4,
    block_y AS size_5,
    block_z AS size_6,
    min(path_id) AS path_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    mean_error_by(iif(is_by_iteration, place, 0), start_ns, dur_ns) AS mean_error_ns,
    mean_freedom_by(iif(is_by_iteration, place, 0)) AS freedom
  FROM kernel_placed
  WHERE place IS NOT NULL
  GROUP BY name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
  UNION ALL
  SELECT
    kind,
    copy_kind,
    src_kind,
    dst_kind,
    size_bytes,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    count(*),
    sum(dur_ns),
    mean_error_by(iif(is_by_iteration, place, 0), start_ns, dur_ns),
    mean_freedom_by(iif(is_by_iteration, place, 0))
  FROM memory_placed
  WHERE place IS NOT NULL
  GROUP BY kind, copy_kind, src_kind, dst_kind, size_bytes
),
-- GPU timestamps are multiples of up to 32 ns, so a mean is at best as exact as that allows.
known AS (
  SELECT
    *,
    max(mean_error_ns, 32 / sqrt(12.0 * calls)) AS least_error_ns,
    coalesce(total_ns > (SELECT total_ns FROM gpu_sum ORDER BY total_ns DESC LIMIT 1 OFFSET 5000), 1) AS has_shape
  FROM gpu_sum
),
-- A shape is one row already. Only the others are grouped.
folded AS (
  SELECT
    kind,
    name_a,
    name_b,
    name_c,
    1 AS has_shape,
    size_1,
    size_2,
    size_3,
    size_4,
    size_5,
    size_6,
    path_id,
    calls,
    total_ns,
    coalesce(calls * least_error_ns, 0.25 * total_ns) AS error_ns,
    coalesce(calls * least_error_ns / sqrt(freedom), 0) AS freedom_ns,
    iif(least_error_ns IS NULL, total_ns, 0) AS single_ns
  FROM known
  WHERE has_shape
  UNION ALL
  SELECT
    kind,
    name_a,
    name_b,
    name_c,
    0,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    path_id,
    sum(calls),
    sum(total_ns),
    sum(coalesce(calls * least_error_ns, 0.25 * total_ns)),
    sum(coalesce(calls * least_error_ns / sqrt(freedom), 0)),
    sum(iif(least_error_ns IS NULL, total_ns, 0))
  FROM known
  WHERE NOT has_shape
  GROUP BY kind, name_a, name_b, name_c, path_id
),
copy_name AS MATERIALIZED (
  SELECT DISTINCT
    1 AS kind,
    copy_kind AS name_a,
    src_kind AS name_b,
    dst_kind AS name_c,
    '[CUDA memcpy ' || direction || ']' || coalesce(', ' || src_memory || ' to ' || dst_memory, '') AS name
  FROM memcpy
  UNION
  SELECT DISTINCT 2, NULL, NULL, mem_kind, '[CUDA memset]' || coalesce(', ' || memory, '')
  FROM memset
),
work AS (
  SELECT
    iif(folded.kind = 0, 'kernels', 'memory') AS section,
    iif(
      folded.kind = 0,
      (SELECT text FROM string WHERE string_id = folded.name_a),
      (
        SELECT name
        FROM copy_name
        WHERE copy_name.kind = folded.kind
          AND copy_name.name_a IS NOT DISTINCT FROM folded.name_a
          AND copy_name.name_b IS NOT DISTINCT FROM folded.name_b
          AND copy_name.name_c IS NOT DISTINCT FROM folded.name_c
      )
    ) AS name,
    CASE
      WHEN NOT folded.has_shape THEN '(other)'
      WHEN folded.kind = 0
        THEN size_1 || 'x' || size_2 || 'x' || size_3 || ' / ' || size_4 || 'x' || size_5 || 'x' || size_6
      ELSE coalesce(size_1 || ' B', '')
    END AS shape,
    coalesce((SELECT path FROM nvtx_path WHERE nvtx_path.path_id = folded.path_id), '') AS path,
    calls,
    total_ns,
    error_ns,
    freedom_ns,
    single_ns
  FROM folded
)
SELECT
  section,
  name,
  shape,
  path,
  iif(section = 'kernels', op_class(name), NULL) AS class,
  collective(name) AS collective,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(error_ns) AS error_ns,
  sum(freedom_ns) AS freedom_ns,
  sum(single_ns) AS single_ns
FROM work
GROUP BY section, name, shape, path
ORDER BY section, sum(total_ns) DESC, name, shape, path
