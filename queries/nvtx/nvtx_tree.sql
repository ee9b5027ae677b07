/*---
name: nvtx_tree
version: 1
title: Tree of NVTX ranges
summary: Paths of NVTX range names, depth first, with the GPU work launched below.
why: To walk down from the whole program to the phase that takes the GPU's time.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_op, nvtx_path, scope]
requires: [nvtx_path]
params:
  - {name: depth, type: int, default: -1, min: -1, doc: "Deepest level to show, from 0 at the top; -1 shows all."}
  - {name: path, type: text, default: "*", doc: "GLOB over path: only these paths, and all that is below them."}
columns:
  - {name: tree, type: text, doc: "Last name of the path behind two blanks for each level above."}
  - {name: share_pct, type: percent, unit: percent, doc: "Share of gpu_ns in all GPU work of the report, listed or not; null without any."}
  - {name: self_share_pct, type: percent, unit: percent, doc: "The same of self_gpu_ns: over all rows these add up to 100."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths, those of ranges within included."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of their union, whatever the device; null in rows of unattributed work."}
  - {name: op_count, type: int, unit: count, doc: "Operations: kernels, copies, fills and whole CUDA graphs."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them; 0 if none was recorded."}
  - {name: range_count, type: int, unit: count, doc: "Ranges that have this path; 0 for unattributed work."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of their lengths on the CPU; 0 for unattributed work."}
  - {name: self_gpu_ns, type: duration, unit: ns, doc: "Sum over operations launched in no range further in."}
  - {name: self_busy_ns, type: duration, unit: ns, doc: "Length of the union of those; null in rows of unattributed work."}
  - {name: self_op_count, type: int, unit: count, doc: "Operations launched in no range further in."}
  - {name: self_launch_count, type: int, unit: count, doc: "API calls that launched those."}
  - {name: depth, type: int, unit: count, doc: "Names in the path, less one."}
  - {name: path_id, type: id, doc: "Number of the path in this report; null for unattributed work."}
  - {name: parent_path_id, type: id, doc: "The path without its last name; null at the top."}
  - {name: path, type: text, doc: "Names from the outermost in, numbers folded to *, or in brackets why the work is in no range."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - gpu_ns >= self_gpu_ns AND self_gpu_ns >= 0 AND op_count >= self_op_count
  - busy_ns IS NULL OR busy_ns <= gpu_ns
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100.000001
limits: >-
  Ranges of all threads and processes that have the same names share a row. Shares are of summed lengths, so work that
  overlaps counts in full; the union is busy_ns. share_pct of nested rows must not be added up, self_share_pct may, as long as
  no row is hidden by depth or path. What another thread launches, as PyTorch does in the backward pass, is below that
  thread's ranges, or in none; see --attribute process.
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
-- The places from the top down, in digits of one width, sort the paths depth first.
branch (path_id, is_shown, sort_key) AS (
  SELECT
    path_id,
    path GLOB :path,
    printf('%07d', place)
  FROM sibling
  WHERE parent_path_id IS NULL
  UNION ALL
  SELECT
    sibling.path_id,
    branch.is_shown OR sibling.path GLOB :path,
    branch.sort_key || printf('%07d', sibling.place)
  FROM branch
  JOIN sibling
    ON sibling.parent_path_id = branch.path_id
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
    branch.sort_key
  FROM branch
  JOIN nvtx_path
    ON nvtx_path.path_id = branch.path_id
  WHERE branch.is_shown
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
    NULL AS sort_key
  FROM unattributed
  WHERE path GLOB :path
)
SELECT
  printf('%*s', 2 * depth, '') || layer_name AS tree,
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
ORDER BY sort_key IS NULL, sort_key, gpu_ns DESC, path, path_id
