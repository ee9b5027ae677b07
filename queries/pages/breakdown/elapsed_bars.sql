/*---
name: elapsed_bars
version: 1
title: Elapsed time of each bar
summary: Elapsed and busy time of all GPUs of a report together, and of each.
why: To see for how much of a run its GPUs worked.
kind: sum
tags: [cuda, gpu]
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
  - {name: report, type: text, priority: 3, doc: "Name of the report."}
  - {name: report_rank, type: int, priority: 3, doc: "Position of the report, from 1."}
  - {name: bar_rank, type: int, priority: 3, doc: "Position of the bar, from 1."}
  - {name: gpu_id, type: id, label: "GPU", priority: 3, doc: "GPU number; null for all GPUs."}
  - {name: gpu_count, type: int, unit: count, label: "bars of GPUs", priority: 3, doc: "Bars of single GPUs that the report has; 0 if it has only this one."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Elapsed time, at least busy_ns."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which the GPU worked, or any of all GPUs."}
  - {name: busy_pct, type: percent, unit: percent, label: "busy % of elapsed", priority: 1, doc: "busy_ns as a share of elapsed_ns; 0 if that is 0."}
  - {name: rest_ns, type: duration, unit: ns, label: "without GPU work", priority: 1, doc: "Rest of elapsed_ns, in which no GPU of the bar worked."}
checks:
  - busy_ns + rest_ns = elapsed_ns
limits: >-
  See elapsed_operations, whose rows it adds up.
see_also: [elapsed_operations, elapsed_classes, gpu_time]
---*/
SELECT
  bar,
  report,
  report_rank,
  bar_rank,
  gpu_id,
  max(bar_rank) OVER (PARTITION BY report_rank) - min(bar_rank) OVER (PARTITION BY report_rank) AS gpu_count,
  sum(elapsed_ns) AS elapsed_ns,
  coalesce(sum(elapsed_ns) FILTER (WHERE is_gpu), 0) AS busy_ns,
  coalesce(100.0 * sum(elapsed_ns) FILTER (WHERE is_gpu) / nullif(sum(elapsed_ns), 0), 0.0) AS busy_pct,
  sum(elapsed_ns) FILTER (WHERE NOT is_gpu) AS rest_ns
FROM elapsed_operations
GROUP BY bar_rank
ORDER BY bar_rank
