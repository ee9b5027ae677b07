/*---
name: captured
version: 1
title: What was captured
summary: The number of GPU operations, and their time, in one row.
why: To know what a report is before reading its figures.
kind: info
tags: [cuda, gpu]
internal: true
reads: [gpu_window, kernel, memcpy, memset]
requires: []
columns:
  - {name: gpu_start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the first GPU's window; null without GPU work."}
  - {name: gpu_end_ns, type: timestamp, unit: ns, priority: 1, doc: "End of the last GPU's window; null without GPU work."}
  - {name: gpu_span_ns, type: duration, unit: ns, priority: 0, doc: "gpu_end_ns - gpu_start_ns; null without GPU work."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 0, doc: "Number of kernels."}
  - {name: copy_count, type: int, unit: count, label: "copies and fills", priority: 0, doc: "Number of copies and fills."}
limits: "Kernels inside CUDA graphs that were traced as a whole are not counted."
see_also: [report_info, gpu_span]
---*/
SELECT
  gpu.start_ns AS gpu_start_ns,
  gpu.end_ns AS gpu_end_ns,
  gpu.end_ns - gpu.start_ns AS gpu_span_ns,
  (SELECT count(*) FROM kernel) AS kernel_count,
  (SELECT count(*) FROM memcpy) + (SELECT count(*) FROM memset) AS copy_count
FROM (SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM gpu_window) AS gpu
ORDER BY gpu_start_ns
