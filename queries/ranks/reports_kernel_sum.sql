/*---
name: reports_kernel_sum
version: 1
title: Kernels of all reports together
summary: GPU time per kernel name, added up over several reports.
why: To treat captures of one program, such as those of nsys start and stop or of its ranks, as one.
kind: sum
tags: [cuda, kernel]
reads: []
asks: [cuda_gpu_kern_sum]
across: true
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times in all reports; overlapping kernels count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions in all reports."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution."}
  - {name: report_count, type: int, unit: count, label: "reports", priority: 1, doc: "Reports in which the kernel ran."}
  - {name: least_ns, type: duration, unit: ns, label: "least in one", priority: 2, doc: "Smallest total of a report; 0 if it did not run in each report that has kernels."}
  - {name: most_ns, type: duration, unit: ns, label: "most in one", priority: 2, doc: "Largest total of a report."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name."}
checks:
  - calls >= report_count
  - least_ns <= most_ns
when_empty: "no kernel was recorded"
limits: >-
  A report that is given twice counts twice. Medians cannot be added up: cuda_gpu_kern_sum has them for each report.
  Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_gpu_kern_sum, rank_balance]
---*/
WITH
seen AS (
  SELECT count(DISTINCT side) AS side_count, sum(total_ns) AS all_ns
  FROM cuda_gpu_kern_sum
)
SELECT
  100.0 * sum(own.total_ns) / nullif(max(seen.all_ns), 0) AS time_pct,
  sum(own.total_ns) AS total_ns,
  sum(own.calls) AS calls,
  1.0 * sum(own.total_ns) / sum(own.calls) AS mean_ns,
  min(own.min_ns) AS min_ns,
  max(own.max_ns) AS max_ns,
  count(*) AS report_count,
  CASE WHEN count(*) < max(seen.side_count) THEN 0 ELSE min(own.total_ns) END AS least_ns,
  max(own.total_ns) AS most_ns,
  own.kernel_name
FROM cuda_gpu_kern_sum AS own
CROSS JOIN seen
GROUP BY own.kernel_name
ORDER BY total_ns DESC, own.kernel_name
