/*---
name: run_time
version: 1
title: Elapsed time of a run
summary: The elapsed time that shares of GPU work refer to, as given or as captured.
why: To relate GPU work to how long the run took without the profiler.
kind: info
tags: [capture, cuda, gpu]
internal: true
reads: []
asks: [gpu_span]
params:
  - {name: elapsed, type: duration, doc: "How long the run took without the profiler; the span of the capture if not set."}
  - {name: idle_counts, type: bool, default: true, doc: "Count the time without GPU work up to the span of the capture, if elapsed is not set."}
columns:
  - {name: elapsed_source, type: text, label: "source", priority: 0, doc: "given: the parameter elapsed; span: the span of the capture; busy: only the time in which a GPU worked."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Elapsed time; 0 if elapsed_source is busy."}
  - {name: span_ns, type: duration, unit: ns, label: "span of the capture", priority: 1, doc: "Time from the first to the last CUDA activity; null if there is none."}
  - {name: graph_count, type: int, unit: count, label: "CUDA graphs", doc: "Executions of CUDA graphs traced as a whole, whose kernels the report does not have."}
checks:
  - elapsed_ns >= 0
limits: >-
  A given time is taken as it is: the capture may cover another part of the run.
see_also: [gpu_span, elapsed_bars]
---*/
SELECT
  CASE WHEN :elapsed IS NOT NULL THEN 'given' WHEN :idle_counts THEN 'span' ELSE 'busy' END AS elapsed_source,
  coalesce(:elapsed, iif(:idle_counts, max(span_ns), 0), 0) AS elapsed_ns,
  max(span_ns) AS span_ns,
  max(graph_count) AS graph_count
FROM gpu_span
