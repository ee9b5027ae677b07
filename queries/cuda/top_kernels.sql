/*---
name: top_kernels
version: 1
title: Kernels by GPU time
summary: The kernels that took the most GPU time, with their spread.
why: To see in one screen which kernels matter, and whether their times are steady.
kind: sum
tags: [cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: limit, type: int, default: 20, min: -1, doc: "Rows to return; -1 returns all."}
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Which name of a kernel to group by."}
columns:
  - {name: rank, type: int, doc: "Place by total_ns, from 1."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all kernels, listed or not."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time."}
  - {name: p90_ns, type: duration, unit: ns, doc: "Time that nine of ten executions stay within."}
  - {name: p99_ns, type: duration, unit: ns, doc: "Time that 99 of 100 executions stay within."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of execution times; 0 for one."}
  - {name: kernel_name, type: text, doc: "Name of the kernel, of the kind asked for."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
  - p90_ns <= p99_ns AND p99_ns <= max_ns
limits: >-
  Adds up durations, so concurrent kernels can exceed the length of the capture. Kernels of a CUDA graph that was traced
  as a whole are not in it.
see_also: [cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, launch_latency]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
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
