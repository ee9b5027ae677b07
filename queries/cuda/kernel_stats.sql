/*---
name: kernel_stats
version: 1
title: Kernels by simple name
summary: One row per kernel function, whatever its template arguments and parameters.
why: To see which kernel functions are launched most and take most time, without a row for every instantiation.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: sort, type: enum, values: [count, duration, percentage, duration-percentage], default: count, doc: "Order: by calls, mean_ns, calls_pct or time_pct, the largest first."}
  - {name: limit, type: int, default: 20, min: -1, doc: "Rows to return; -1 returns all."}
  - {name: name, type: enum, values: [simple, demangled], default: simple, doc: "Which name of a kernel to group by: its function's alone, or the whole."}
columns:
  - {name: rank, type: int, doc: "Place in the order asked for, from 1."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: calls_pct, type: percent, unit: percent, doc: "Share of calls in those of all kernels, listed or not."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all kernels, listed or not."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of execution times; 0 for one."}
  - {name: name_count, type: int, unit: count, doc: "Different demangled names in the row."}
  - {name: simple_name, type: text, doc: "simple_name() of kernel_name, or all of it with name=demangled; (no name) where the export has none."}
  - {name: kernel_name, type: text, doc: "The demangled name with most calls in the row, of equals the first in order; null where the export has none."}
checks:
  - calls >= 1 AND name_count BETWEEN 1 AND calls
  - calls_pct BETWEEN 0 AND 100 AND time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  Functions of one name in different namespaces share a row, and so do all instantiations of a template, which may do very
  different work: cutlass names its matrix products Kernel or Kernel2. A mangled name stays as it is. Adds up durations,
  so concurrent kernels can exceed the length of the capture. Kernels of a CUDA graph that was traced as a whole are not
  in it.
see_also: [top_kernels, cuda_gpu_kern_sum, kernel_classes, gap_pairs]
---*/
WITH
-- Numbers stand for names here: each name is looked at once, and not for every kernel.
by_id AS (
  SELECT name_id, count(*) AS calls
  FROM kernel
  GROUP BY name_id
),
named AS (
  SELECT name_id, calls, (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM by_id
),
simplified AS (
  SELECT
    name_id,
    calls,
    kernel_name,
    coalesce(CASE :name WHEN 'simple' THEN simple_name(kernel_name) ELSE kernel_name END, '(no name)') AS simple_name
  FROM named
  LIMIT -1
),
grouped AS (
  SELECT
    name_id,
    kernel_name,
    simple_name,
    min(name_id) OVER (PARTITION BY simple_name) AS group_id,
    row_number() OVER (PARTITION BY simple_name ORDER BY calls DESC, kernel_name, name_id) AS nth
  FROM simplified
  LIMIT -1
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
