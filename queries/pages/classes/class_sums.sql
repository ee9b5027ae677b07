/*---
name: class_sums
version: 1
title: GPU time by class, summed
summary: Time and count of each class of kernels, collective and kind of copy or fill.
why: To see what kind of work the GPU time of each report is.
kind: sum
tags: [classes, cuda, kernel, memory]
internal: true
reads: []
asks: [class_capture, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: section, type: text, priority: 0, doc: "kernel, communication or memory."}
  - {name: class, type: text, priority: 0, doc: "Class of kernels, collective, or kind of copy or fill."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of durations; overlapping operations count in full."}
  - {name: count, type: int, unit: count, priority: 1, doc: "Number of kernels or operations."}
  - {name: first_rank, type: int, priority: 3, doc: "Position of the largest operation of the class among all of its section."}
checks:
  - total_ns >= 0 AND count >= 0
limits: >-
  collective() decides what is communication, and the class map about all other kernels.
see_also: [class_figures, class_sum, kernel_classes]
---*/
WITH
operation AS (
  SELECT
    side,
    iif(collective(coalesce(kernel_name, '')) IS NULL, 'kernel', 'communication') AS section,
    coalesce(collective(coalesce(kernel_name, '')), op_class(coalesce(kernel_name, ''))) AS class,
    total_ns,
    calls,
    rowid AS rank
  FROM cuda_gpu_kern_sum
  UNION ALL
  SELECT
    side,
    'memory' AS section,
    coalesce(op_name, '') AS class,
    total_ns,
    calls,
    rowid AS rank
  FROM cuda_gpu_mem_time_sum
)
SELECT
  capture.report,
  capture.side,
  section,
  class,
  sum(total_ns) AS total_ns,
  sum(calls) AS count,
  min(rank) AS first_rank
FROM operation
JOIN class_capture AS capture USING (side)
WHERE section <> 'memory'
  OR capture.has_memory
GROUP BY capture.side, section, class
ORDER BY capture.side, section, sum(total_ns) DESC, sum(calls) DESC, class
