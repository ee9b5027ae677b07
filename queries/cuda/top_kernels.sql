/*---
name: top_kernels
version: 1
title: Kernels by GPU time
summary: Kernels with the most GPU time, and the spread of their execution times.
why: To see on one screen which kernels matter, and whether their times are steady.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by total_ns; 1 is the largest."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of all kernels, including kernels that are not listed."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median execution time."}
  - {name: p90_ns, type: duration, unit: ns, doc: "Execution time that nine of ten executions do not exceed."}
  - {name: p99_ns, type: duration, unit: ns, priority: 1, doc: "Execution time that 99 of 100 executions do not exceed."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
  - p90_ns <= p99_ns AND p99_ns <= max_ns
when_empty: "no kernel was recorded"
limits: >-
  Durations are added up, so concurrent kernels can exceed the length of the capture. Kernels of a CUDA graph traced as
  a whole are not included.
see_also: [cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, launch_latency]
---*/
WITH
-- Group by name ID, not text: it is many times faster.
by_name AS (
  SELECT
    CASE :name WHEN 'demangled' THEN name_id WHEN 'short' THEN short_name_id ELSE mangled_name_id END AS name_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    percentile(dur_ns, 90) AS p90_ns,
    percentile(dur_ns, 99) AS p99_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM kernel
  GROUP BY 1
),
named AS (
  SELECT
    *,
    100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
    (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM by_name
)
SELECT
  row_number() OVER (ORDER BY total_ns DESC, calls DESC, kernel_name, name_id) AS rank,
  calls,
  time_pct,
  total_ns,
  mean_ns,
  median_ns,
  p90_ns,
  p99_ns,
  min_ns,
  max_ns,
  stddev_ns,
  kernel_name
FROM named
ORDER BY rank
LIMIT :limit
