/*---
name: nvtx_tree
version: 1
title: Tree of NVTX ranges
summary: Tree of NVTX range names, with the GPU work launched in each.
why: To walk down from the whole program to the phase that takes the GPU time.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_op, nvtx_path, scope]
requires: [nvtx_path]
params:
  - {name: depth, type: int, default: -1, min: -1, doc: "Deepest level to show; 0 is the top, -1 shows all levels."}
  - {name: path, type: text, default: "*", doc: "GLOB pattern for path. Shows the matching paths and everything below them."}
columns:
  - {name: tree, type: text, label: "range", priority: 0, doc: "Last name of the path, indented by two spaces per level, up to level 64."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of all GPU work, including rows hidden by depth or path; null without GPU work."}
  - {name: self_share_pct, type: percent, unit: percent, label: "self share of GPU time", priority: 1, doc: "self_gpu_ns as a share of all GPU work. Adds up to 100 over all rows."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the operations launched in the ranges, including nested ranges."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", doc: "Time in which at least one of the operations ran, on any device; null for work in no range."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", doc: "Operations: kernels, copies, fills and CUDA graphs traced as a whole."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations; 0 if none was recorded."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges with this path; 0 for work in no range."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Sum of the CPU durations of the ranges; 0 for work in no range."}
  - {name: self_gpu_ns, type: duration, unit: ns, label: "self GPU time", doc: "Sum of the durations of operations launched directly in the ranges, not in a nested range."}
  - {name: self_busy_ns, type: duration, unit: ns, label: "self GPU busy", priority: 3, doc: "Time in which at least one operation of self_gpu_ns ran; null for work in no range."}
  - {name: self_op_count, type: int, unit: count, label: "self GPU operations", priority: 3, doc: "Operations of self_gpu_ns."}
  - {name: self_launch_count, type: int, unit: count, label: "self launches", priority: 3, doc: "API calls that launched the operations of self_gpu_ns."}
  - {name: depth, type: int, unit: count, priority: 3, doc: "Number of names in the path minus 1; 0 at the top."}
  - {name: path_id, type: id, priority: 3, doc: "ID of the path in this report; null for work in no range."}
  - {name: parent_path_id, type: id, priority: 3, doc: "ID of the path without its last name; null at the top."}
  - {name: path, type: text, priority: 3, doc: "Range names from the outermost to the innermost, each number replaced by *; for work in no range, the reason in parentheses."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - gpu_ns >= self_gpu_ns AND self_gpu_ns >= 0 AND op_count >= self_op_count
  - busy_ns IS NULL OR busy_ns <= gpu_ns
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100.000001
when_empty: "no path matches: without -p path, the rows show the whole tree"
limits: >-
  Ranges with the same path of names share a row, across threads and processes. Shares are of summed durations, so
  overlapping work counts in full; busy_ns counts overlaps once. Do not add up share_pct of nested rows. self_share_pct
  adds up to 100 if depth and path hide no rows. Work that another thread launches, such as PyTorch's backward pass, is
  below the ranges of that thread or in no range; see --attribute process.
see_also: [nvtx_kernels, nvtx_layers, nvtx_coverage, nvtx_gpu_proj_trace]
---*/
WITH RECURSIVE
sibling AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY parent_path_id
      ORDER BY gpu_ns DESC, cpu_ns DESC, layer_name, path_id
    ) AS place
  FROM nvtx_path
),
-- Ordered by depth, the deepest first, SQLite walks the tree depth first: only one path has its children in the queue.
branch (path_id, is_shown, depth, place) AS (
  SELECT
    path_id,
    path GLOB :path,
    0,
    place
  FROM sibling
  WHERE parent_path_id IS NULL
  UNION ALL
  SELECT
    sibling.path_id,
    branch.is_shown OR sibling.path GLOB :path,
    branch.depth + 1,
    sibling.place
  FROM branch
  JOIN sibling
    ON sibling.parent_path_id = branch.path_id
  ORDER BY 3 DESC, 4
),
walk AS (
  SELECT
    path_id,
    is_shown,
    row_number() OVER () AS step
  FROM branch
),
unattributed AS (
  SELECT
    unattributed,
    '(' || unattributed || ')' AS path,
    sum(dur_ns) AS gpu_ns,
    count(*) AS op_count,
    count(DISTINCT call_id) AS launch_count
  FROM nvtx_op
  WHERE unattributed IS NOT NULL
  GROUP BY unattributed
),
work AS (
  SELECT total(self_gpu_ns) + (SELECT total(gpu_ns) FROM unattributed) AS gpu_ns
  FROM nvtx_path
),
line AS (
  SELECT
    nvtx_path.gpu_ns,
    nvtx_path.busy_ns,
    nvtx_path.self_gpu_ns,
    nvtx_path.self_busy_ns,
    nvtx_path.op_count,
    nvtx_path.launch_count,
    nvtx_path.self_op_count,
    nvtx_path.self_launch_count,
    nvtx_path.range_count,
    nvtx_path.cpu_ns,
    nvtx_path.depth,
    nvtx_path.path_id,
    nvtx_path.parent_path_id,
    nvtx_path.path,
    nvtx_path.layer_name,
    walk.step
  FROM walk
  JOIN nvtx_path
    ON nvtx_path.path_id = walk.path_id
  WHERE walk.is_shown
    AND (:depth = -1 OR nvtx_path.depth <= :depth)
  UNION ALL
  SELECT
    gpu_ns,
    NULL AS busy_ns,
    gpu_ns AS self_gpu_ns,
    NULL AS self_busy_ns,
    op_count,
    launch_count,
    op_count AS self_op_count,
    launch_count AS self_launch_count,
    0 AS range_count,
    0 AS cpu_ns,
    0 AS depth,
    NULL AS path_id,
    NULL AS parent_path_id,
    path,
    path AS layer_name,
    NULL AS step
  FROM unattributed
  WHERE path GLOB :path
)
SELECT
  printf('%*s', 2 * min(depth, 64), '') || layer_name AS tree,
  100.0 * gpu_ns / nullif((SELECT gpu_ns FROM work), 0) AS share_pct,
  100.0 * self_gpu_ns / nullif((SELECT gpu_ns FROM work), 0) AS self_share_pct,
  gpu_ns,
  busy_ns,
  op_count,
  launch_count,
  range_count,
  cpu_ns,
  self_gpu_ns,
  self_busy_ns,
  self_op_count,
  self_launch_count,
  depth,
  path_id,
  parent_path_id,
  path,
  (SELECT attribution FROM scope) AS attribution
FROM line
ORDER BY step IS NULL, step, gpu_ns DESC, path, path_id
