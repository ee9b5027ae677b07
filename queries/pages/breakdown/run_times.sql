/*---
name: run_times
version: 1
title: Elapsed time of each run
summary: The elapsed times of all reports, with the busy time of their GPUs.
why: To see whether a given time is long enough for the GPU work that was captured.
kind: info
tags: [capture, cuda, gpu]
internal: true
reads: []
asks: [run_time, elapsed_bars]
across: true
params:
  - {name: elapsed, type: duration, doc: "How long the run took without the profiler; the span of the capture if not set."}
  - {name: idle_counts, type: bool, default: true, doc: "Count the time without GPU work up to the span of the capture, if elapsed is not set."}
  - {name: merge_devices, type: bool, default: false, doc: "Leave out the bars of single GPUs."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs traced as a whole; false leaves them out."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: elapsed_source, type: text, label: "source", priority: 0, doc: "given: the parameter elapsed; span: the span of the capture; busy: only the time in which a GPU worked."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Elapsed time; 0 if elapsed_source is busy."}
  - {name: most_busy_ns, type: duration, unit: ns, label: "longest busy time", priority: 1, doc: "Busy time of the longest bar of the report."}
  - {name: graph_count, type: int, unit: count, label: "CUDA graphs", doc: "Executions of CUDA graphs traced as a whole, whose kernels the report does not have."}
limits: >-
  See run_time, whose rows it has.
see_also: [run_time, elapsed_bars]
---*/
SELECT
  run_time.report,
  run_time.elapsed_source,
  run_time.elapsed_ns,
  max(elapsed_bars.busy_ns) AS most_busy_ns,
  run_time.graph_count
FROM run_time
JOIN elapsed_bars ON elapsed_bars.report_rank = run_time.side + 1
GROUP BY run_time.side
ORDER BY run_time.side
