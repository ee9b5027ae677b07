/*---
name: class_seed_windows
version: 1
title: Time of the tagged ranges without kernels
summary: Number and time of the tagged ranges, without the kernels other than NCCL's.
why: To compare with figures of GPU_kernel_info_statistic and GPU Performance Analyser.
kind: info
tags: [classes, cuda, kernel, nvtx]
internal: true
reads: []
asks: [class_capture, class_iterations, class_seed_sums]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
  - {name: classes, type: list, doc: "The classes of kernels other than nccl, in the order of their rows."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: iterations, type: int, unit: count, priority: 1, doc: "Number of iterations: as given, or the number of tagged ranges."}
  - {name: window_count, type: int, unit: count, label: "windows", priority: 1, doc: "Tagged ranges; null if no range is tagged."}
  - {name: total_ms, type: real, label: "total ms", priority: 1, doc: "Time of the tagged ranges, in ms."}
  - {name: mean_ms, type: real, label: "mean ms", priority: 1, doc: "Mean time of a tagged range, in ms; 0 if there are none."}
  - {name: rest_ms, type: real, label: "rest of a range ms", priority: 1, doc: "mean_ms without the kernels of an iteration, in ms; null if no range was found."}
  - {name: rest_pct, type: percent, unit: percent, label: "rest % of a range", priority: 1, doc: "rest_ms as a share of mean_ms; null if that is 0."}
  - {name: total_rest_ms, type: real, label: "rest of all ms", priority: 1, doc: "total_ms without the kernels, in ms; null if no range was found."}
  - {name: total_rest_pct, type: percent, unit: percent, label: "rest % of all", priority: 1, doc: "total_rest_ms as a share of total_ms; null if that is 0."}
limits: >-
  The sums cover the whole capture, and the ranges only a part. See class_figures for figures that do not mix them.
see_also: [class_figures, class_seed_sums]
---*/
WITH
window AS (
  SELECT
    capture.report,
    side,
    coalesce(given_iterations, window_count) AS iterations,
    iif(tag IS NULL, NULL, window_count) AS window_count,
    windows_ns * 1e-6 AS window_ms,
    coalesce(windows_ns * 1e-6 / nullif(window_count, 0), 0.0) AS mean_ms,
    sums.iteration_ms,
    sums.total_ms
  FROM class_capture AS capture
  JOIN class_iterations USING (side)
  JOIN class_seed_sums AS sums USING (side)
  WHERE sums.block = 'kernel'
    AND sums.class IS NULL
)
SELECT
  report,
  side,
  iterations,
  window_count,
  window_ms AS total_ms,
  mean_ms,
  iif(window_count > 0, mean_ms - iteration_ms, NULL) AS rest_ms,
  iif(window_count > 0, (mean_ms - iteration_ms) / nullif(mean_ms, 0.0) * 100.0, NULL) AS rest_pct,
  iif(window_count > 0, window_ms - total_ms, NULL) AS total_rest_ms,
  iif(window_count > 0, (window_ms - total_ms) / nullif(window_ms, 0.0) * 100.0, NULL) AS total_rest_pct
FROM window
GROUP BY side
ORDER BY side
