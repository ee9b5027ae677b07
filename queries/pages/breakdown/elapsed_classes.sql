/*---
name: elapsed_classes
version: 1
title: Elapsed time by class
summary: Elapsed time of each class on all GPUs of a report and on each GPU.
why: To compare which classes of GPU work fill the elapsed time of several runs or GPUs.
kind: sum
tags: [classes, cuda, gpu]
internal: true
reads: []
asks: [elapsed_operations]
across: true
params:
  - {name: elapsed, type: duration, doc: "How long the run took without the profiler; the span of the capture if not set."}
  - {name: idle_counts, type: bool, default: true, doc: "Count the time without GPU work up to the span of the capture, if elapsed is not set."}
  - {name: merge_devices, type: bool, default: false, doc: "Leave out the bars of single GPUs."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs traced as a whole; false leaves them out."}
columns:
  - {name: bar, type: text, priority: 0, doc: "The report; with :gpuN for one of several GPUs, else for all of its GPUs together."}
  - {name: bar_rank, type: int, priority: 3, doc: "Position of the bar, from 1."}
  - {name: class, type: text, priority: 0, doc: "Class of GPU work, or CPU(non-GPU)."}
  - {name: class_rank, type: int, priority: 3, doc: "Rank of the class by its time in all reports, from 1; CPU(non-GPU) is last."}
  - {name: is_gpu, type: bool, priority: 3, doc: "Whether it is GPU work, not the time without any."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Elapsed time of the class; null if the bar lacks the class."}
  - {name: busy_pct, type: percent, unit: percent, label: "share of busy time", priority: 1, doc: "elapsed_ns as a share of the busy time; null if the bar lacks the class, and for CPU(non-GPU)."}
  - {name: elapsed_pct, type: percent, unit: percent, label: "share of elapsed time", priority: 1, doc: "elapsed_ns as a share of the elapsed time; null if the bar lacks the class."}
limits: >-
  See elapsed_operations, whose rows it adds up.
see_also: [elapsed_operations, elapsed_bars, gpu_share, class_sum]
---*/
WITH
bar AS (
  SELECT DISTINCT bar_rank, bar, bar_elapsed_ns, bar_busy_ns
  FROM elapsed_operations
),
class AS (
  SELECT DISTINCT class_rank, class, is_gpu
  FROM elapsed_operations
),
class_time AS (
  SELECT bar_rank, class_rank, sum(elapsed_ns) AS elapsed_ns
  FROM elapsed_operations
  GROUP BY bar_rank, class_rank
)
SELECT
  bar,
  bar_rank,
  class,
  class_rank,
  is_gpu,
  elapsed_ns,
  iif(is_gpu, coalesce(100.0 * elapsed_ns / nullif(bar_busy_ns, 0), 0.0 * elapsed_ns), NULL) AS busy_pct,
  coalesce(100.0 * elapsed_ns / nullif(bar_elapsed_ns, 0), 0.0 * elapsed_ns) AS elapsed_pct
FROM bar
CROSS JOIN class
LEFT JOIN class_time USING (bar_rank, class_rank)
ORDER BY bar_rank, class_rank
