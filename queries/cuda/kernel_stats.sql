/*---
name: kernel_stats
version: 1
title: Kernels by simple name
summary: GPU time per kernel function, with all its template instances in one row.
why: To see which kernel functions run most often and longest, without a row per template instance.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: sort, type: enum, values: [count, duration, percentage, duration-percentage], default: count, doc: "Sort order, largest first: count by calls, duration by mean_ns, percentage by calls_pct, duration-percentage by time_pct."}
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: name, type: enum, values: [simple, demangled], default: simple, doc: "Kernel name to group by: simple is the name of the function alone, demangled the whole name."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank in the chosen order, from 1."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: calls_pct, type: percent, unit: percent, label: "share of kernel calls", doc: "calls as a share of all kernel executions, including kernels that are not listed."}
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of all kernels, including kernels that are not listed."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median execution time."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: name_count, type: int, unit: count, label: "full names", priority: 3, doc: "Number of different demangled names in the row."}
  - {name: simple_name, type: text, label: "kernel", priority: 0, doc: "simple_name() of kernel_name, or the whole name if name is demangled; (no name) if the export has no name."}
  - {name: kernel_name, type: text, label: "most frequent full name", priority: 3, doc: "Demangled name with the most calls in the row, the first by name if several tie; null if the export has no name."}
checks:
  - calls >= 1 AND name_count BETWEEN 1 AND calls
  - calls_pct BETWEEN 0 AND 100 AND time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no kernel was recorded"
limits: >-
  Functions of one name in different namespaces share a row. So do all instances of a template, which can do very
  different work: cutlass names its matrix products Kernel or Kernel2. Mangled names are not shortened. Durations are
  added up, so concurrent kernels can exceed the length of the capture. Kernels of a CUDA graph traced as a whole are
  not included.
see_also: [top_kernels, cuda_gpu_kern_sum, kernel_classes, gap_pairs]
---*/
WITH
-- Process each name once, by its ID, instead of once per kernel.
by_id AS (
  SELECT name_id, count(*) AS calls
  FROM kernel
  GROUP BY name_id
),
named AS (
  SELECT name_id, calls, (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM by_id
),
simplified AS MATERIALIZED (
  SELECT
    name_id,
    calls,
    kernel_name,
    coalesce(CASE :name WHEN 'simple' THEN simple_name(kernel_name) ELSE kernel_name END, '(no name)') AS simple_name
  FROM named
),
grouped AS MATERIALIZED (
  SELECT
    name_id,
    kernel_name,
    simple_name,
    min(name_id) OVER (PARTITION BY simple_name) AS group_id,
    row_number() OVER (PARTITION BY simple_name ORDER BY calls DESC, kernel_name, name_id) AS nth
  FROM simplified
),
counted AS (
  SELECT group_id, count(DISTINCT coalesce(kernel_name, '')) AS name_count
  FROM grouped
  GROUP BY group_id
),
summed AS (
  SELECT
    grouped.group_id,
    count(*) AS calls,
    sum(kernel.dur_ns) AS total_ns,
    avg(kernel.dur_ns) AS mean_ns,
    median(kernel.dur_ns) AS median_ns,
    min(kernel.dur_ns) AS min_ns,
    max(kernel.dur_ns) AS max_ns,
    stddev(kernel.dur_ns) AS stddev_ns
  FROM kernel
  JOIN grouped
    ON grouped.name_id IS NOT DISTINCT FROM kernel.name_id
  GROUP BY grouped.group_id
),
shared AS (
  SELECT
    *,
    100.0 * calls / sum(calls) OVER () AS calls_pct,
    100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct
  FROM summed
)
SELECT
  row_number() OVER (
    ORDER BY
      CASE :sort WHEN 'duration' THEN mean_ns WHEN 'duration-percentage' THEN total_ns ELSE calls END DESC,
      total_ns DESC,
      calls DESC,
      grouped.simple_name
  ) AS rank,
  calls,
  calls_pct,
  time_pct,
  total_ns,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  name_count,
  grouped.simple_name,
  grouped.kernel_name
FROM shared
JOIN grouped
  ON grouped.group_id IS NOT DISTINCT FROM shared.group_id
  AND grouped.nth = 1
JOIN counted
  ON counted.group_id IS NOT DISTINCT FROM shared.group_id
ORDER BY rank
LIMIT :limit
