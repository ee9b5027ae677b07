/*---
name: reports_sum
version: 1
title: Kernels, calls, copies and ranges of all reports together
summary: Time per name of what was recorded, added up over several reports.
why: To treat the captures of all ranks, or of one program in pieces, as one.
kind: sum
tags: [cuda, kernel, mpi, nvtx, osrt]
reads: []
asks: [event_sum]
across: true
params:
  - {name: of, type: enum, default: all, values: [all, kernel, copy, call, range, os call, mpi], doc: "The kind to add up."}
columns:
  - {name: kind, type: text, priority: 0, doc: "kernel, copy (also fills), call (CUDA API), range (NVTX), os call or mpi."}
  - {name: time_pct, type: percent, unit: percent, label: "share of its kind", priority: 1, doc: "total_ns as a share of the sum over all rows of its kind."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations in all reports. What overlaps, and nested ranges, count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "How often it ran in all reports."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest one."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest one."}
  - {name: report_count, type: int, unit: count, label: "reports", priority: 1, doc: "Reports that have it."}
  - {name: least_ns, type: duration, unit: ns, label: "least in one", priority: 2, doc: "Smallest total of a report; 0 if a report with others of its kind lacks it."}
  - {name: most_ns, type: duration, unit: ns, label: "most in one", priority: 2, doc: "Largest total of a report."}
  - {name: most_report, type: text, label: "most in", priority: 2, doc: "Report with the largest total; the first one of several."}
  - {name: name, type: text, priority: 0, doc: "Demangled name of a kernel, operation, API function, range with its domain, or function."}
checks:
  - calls >= report_count
  - least_ns <= most_ns
when_empty: "no event of this kind was recorded"
limits: >-
  A report that is given twice counts twice. Medians cannot be added up: cuda_gpu_kern_sum, cuda_api_sum, nvtx_sum and
  so on have them for each report. Kernels of a CUDA graph traced as a whole are not included.
see_also: [event_sum, rank_balance, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_api_sum, nvtx_sum, osrt_sum, mpi_event_sum]
---*/
WITH
of_kind AS MATERIALIZED (
  SELECT kind, count(DISTINCT side) AS side_count, sum(total_ns) AS all_ns
  FROM event_sum
  GROUP BY kind
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY kind, name ORDER BY total_ns DESC, side) AS place
  FROM event_sum
)
SELECT
  placed.kind,
  100.0 * sum(placed.total_ns) / nullif(max(of_kind.all_ns), 0) AS time_pct,
  sum(placed.total_ns) AS total_ns,
  sum(placed.calls) AS calls,
  1.0 * sum(placed.total_ns) / sum(placed.calls) AS mean_ns,
  min(placed.min_ns) AS min_ns,
  max(placed.max_ns) AS max_ns,
  count(*) AS report_count,
  CASE WHEN count(*) < max(of_kind.side_count) THEN 0 ELSE min(placed.total_ns) END AS least_ns,
  max(placed.total_ns) AS most_ns,
  max(CASE WHEN placed.place = 1 THEN placed.report END) AS most_report,
  placed.name
FROM placed
JOIN of_kind
  ON of_kind.kind = placed.kind
GROUP BY placed.kind, placed.name
ORDER BY placed.kind, total_ns DESC, placed.name
