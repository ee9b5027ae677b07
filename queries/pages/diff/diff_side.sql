/*---
name: diff_side
version: 3
title: What a report is
summary: The GPUs, the profiler and the kernels of a report.
why: To know whether two reports can be compared.
kind: info
tags: [cuda, gpu]
internal: true
reads: [export_fact, gpu, graph_trace, kernel, process_device, step_window]
requires: []
columns:
  - {name: gpu_names, type: text, label: "GPUs", priority: 0, doc: "Names of the GPUs that ran work, each once, sorted; null if the report names none."}
  - {name: is_trace, type: bool, label: "PyTorch trace", priority: 1, doc: "Whether the report is an imported PyTorch trace."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Executions of kernels."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Sum of their durations."}
  - {name: graph_count, type: int, unit: count, label: "graph executions", priority: 1, doc: "Executions of CUDA graphs that were traced as a whole."}
  - {name: graph_ns, type: duration, unit: ns, label: "graph time", priority: 1, doc: "Sum of their durations."}
  - {name: step_blocks, type: int, unit: count, label: "thread blocks of a step", priority: 3, doc: "Thread blocks of the median step, of the GPU with the lowest number; null without steps."}
  - {name: span_ns, type: duration, unit: ns, label: "from first to last kernel", priority: 1, doc: "From the start of the first kernel to the end of the last; null without kernels."}
checks:
  - kernel_count >= 0
limits: >-
  The kernels of CUDA graphs traced as a whole are not counted; the executions of the graphs are.
see_also: [diff_runs, captured]
---*/
WITH
usual AS MATERIALIZED (
  SELECT pid, device_id, start_ns, end_ns
  FROM step_window
  WHERE part = 'median'
  ORDER BY gpu_id, global_tid
  LIMIT 1
)
SELECT
  (
    SELECT group_concat(gpu_name, ', ')
    FROM (
      SELECT DISTINCT gpu_name
      FROM gpu
      WHERE gpu_id IN (SELECT gpu_id FROM process_device)
      ORDER BY gpu_name
    )
  ) AS gpu_names,
  EXISTS (SELECT 1 FROM export_fact WHERE fact = 'NSQ_IMPORT_OF') AS is_trace,
  count(*) AS kernel_count,
  coalesce(sum(dur_ns), 0) AS kernel_ns,
  (SELECT count(*) FROM graph_trace) AS graph_count,
  (SELECT coalesce(sum(dur_ns), 0) FROM graph_trace) AS graph_ns,
  sum(grid_x * grid_y * grid_z) FILTER (
    WHERE pid = (SELECT pid FROM usual)
      AND device_id = (SELECT device_id FROM usual)
      AND start_ns >= (SELECT start_ns FROM usual)
      AND start_ns < (SELECT end_ns FROM usual)
  ) AS step_blocks,
  max(end_ns) - min(start_ns) AS span_ns
FROM kernel
ORDER BY kernel_count
