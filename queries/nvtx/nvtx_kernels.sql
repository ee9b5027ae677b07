/*---
name: nvtx_kernels
version: 2
title: Kernels under an NVTX range
summary: Kernel time per path of NVTX ranges and kernel, largest total first.
why: To see which kernels a layer or phase runs, with each kernel counted once.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [nvtx_path, nvtx_path_kernel, scope, string]
requires: [nvtx_path, nvtx_path_kernel]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for a folded range name in the path, or for the whole path. Selects the kernels inside these ranges."}
  - {name: kernel, type: text, default: "*", doc: "GLOB pattern for a demangled or short kernel name: the ranges that launch this kernel."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by total_ns; 1 is the largest."}
  - {name: share_pct, type: percent, unit: percent, label: "share of selected kernels", priority: 1, doc: "total_ns as a share of all selected kernels, with the rows that limit leaves out."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: path, type: text, priority: 0, doc: "Range names from the outermost to the innermost, each number replaced by *; null outside any range."}
  - {name: unattributed, type: text, label: "why in no range", doc: "Why the kernel is in no range: no API row, no open range or other thread; null if it is in one."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - calls >= 1 AND share_pct BETWEEN 0 AND 100
  - mean_ns BETWEEN min_ns AND max_ns
  - (path IS NULL) = (unattributed IS NOT NULL)
when_empty: "no kernel was launched in a matching range: nvtx_tree lists the paths, and a part of a name needs stars: -p range=*attention* or kernel=*gemm*"
limits: >-
  A kernel counts only in the row of the innermost range around its launch, so rows add up. Iterations share a row,
  because their folded names are the same; use --nvtx to choose one iteration. Kernels in no range are included if range
  is *. Kernels of a CUDA graph traced as a whole are not included.
see_also: [nvtx_tree, nvtx_layers, nvtx_kern_sum, top_kernels]
---*/
WITH RECURSIVE
-- Stored, the rows get an index. Otherwise SQLite scans all paths at every step.
named_path AS MATERIALIZED (
  SELECT path_id, parent_path_id, layer_name GLOB :range OR path GLOB :range AS is_named
  FROM nvtx_path
),
-- Paths that match by one of their names or as a whole, and all paths below them.
selected (path_id) AS (
  SELECT path_id
  FROM named_path
  WHERE is_named
  UNION
  SELECT named_path.path_id
  FROM selected
  JOIN named_path
    ON named_path.parent_path_id = selected.path_id
),
by_kernel AS (
  SELECT
    path_id,
    unattributed,
    CASE :name WHEN 'demangled' THEN name_id WHEN 'short' THEN short_name_id ELSE mangled_name_id END AS kernel_name_id,
    sum(calls) AS calls,
    sum(total_ns) AS total_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns
  FROM nvtx_path_kernel
  WHERE :kernel = '*'
    OR name_id IN (SELECT string_id FROM string WHERE text GLOB :kernel)
    OR short_name_id IN (SELECT string_id FROM string WHERE text GLOB :kernel)
  GROUP BY path_id, unattributed, 3
),
named AS (
  SELECT
    by_kernel.*,
    (SELECT path FROM nvtx_path WHERE nvtx_path.path_id = by_kernel.path_id) AS path,
    (SELECT text FROM string WHERE string_id = by_kernel.kernel_name_id) AS kernel_name
  FROM by_kernel
  WHERE path_id IN (SELECT path_id FROM selected)
    OR path_id IS NULL AND '' GLOB :range
)
SELECT
  row_number() OVER (
    ORDER BY total_ns DESC, calls DESC, path, unattributed, kernel_name, path_id, kernel_name_id
  ) AS rank,
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS share_pct,
  total_ns,
  calls,
  1.0 * total_ns / calls AS mean_ns,
  min_ns,
  max_ns,
  path,
  unattributed,
  kernel_name,
  (SELECT attribution FROM scope) AS attribution
FROM named
ORDER BY rank
LIMIT :limit
