/*---
name: nvtx_kernels
version: 1
title: Kernels under an NVTX range
summary: Kernels by the NVTX path that launched them, largest total first.
why: To see which kernels a layer or phase runs, each counted once.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [nvtx_path, nvtx_path_kernel, scope, string]
requires: [nvtx_path, nvtx_path_kernel]
params:
  - {name: range, type: text, default: "*", doc: "GLOB over the names in a path, numbers folded to *, or over the whole path: only kernels below."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Rows to return; -1 returns all."}
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Which name of a kernel to group by."}
columns:
  - {name: rank, type: int, doc: "Place by total_ns, from 1."}
  - {name: share_pct, type: percent, unit: percent, doc: "Share of total_ns in the kernels selected, listed or not."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: path, type: text, doc: "Names from the outermost range in, numbers folded to *; null if there was no range."}
  - {name: unattributed, type: text, doc: "Why there is no range: no API row, no open range, other thread; null if there is one."}
  - {name: kernel_name, type: text, doc: "Name of the kernel, of the kind asked for."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - calls >= 1 AND share_pct BETWEEN 0 AND 100
  - mean_ns BETWEEN min_ns AND max_ns
  - (path IS NULL) = (unattributed IS NOT NULL)
limits: >-
  A kernel is in the row of the innermost range around its launch alone, so rows add up. Single iterations cannot be
  told apart here, since their names fold into one; take --nvtx for one of them. Unattributed kernels are in it as long
  as range is *. Kernels of a CUDA graph that was traced as a whole are not in it.
see_also: [nvtx_tree, nvtx_layers, nvtx_kern_sum, top_kernels]
---*/
WITH RECURSIVE
-- LIMIT has SQLite keep these rows, and find children by an index, rather than scan all paths at every step.
named_path AS (
  SELECT path_id, parent_path_id, layer_name GLOB :range OR path GLOB :range AS is_named
  FROM nvtx_path
  LIMIT -1
),
-- A path is selected by one of its names or as a whole, and with it all below.
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
