/*---
name: process_activity
version: 2
title: GPU work and CUDA calls per process
summary: One row per process, with its GPU operations and CUDA API calls.
why: To choose the processes for --process, and to see which ones use no GPU.
kind: sum
tags: [capture, cuda, gpu]
reads: [all_cuda_call, all_gpu_op, all_graph_trace, process]
requires: []
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID, the number that --process takes."}
  - {name: process_name, type: text, label: "process", priority: 0, doc: "Name or path of the executable; null if unknown."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "Kernels, copies and fills of the process, and CUDA graphs traced as a whole, each execution as one."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of their durations; overlapping operations count in full."}
  - {name: call_count, type: int, unit: count, label: "CUDA calls", priority: 1, doc: "Calls of the CUDA runtime and driver API. A driver call inside a runtime call counts too."}
checks:
  - op_count >= 0 AND gpu_ns >= 0 AND call_count >= 0
when_empty: "the report names no process"
limits: >-
  Scope options leave out nothing here. A system-wide capture names the processes of the whole machine, most of
  which are idle.
see_also: [scope_ids, report_info]
---*/
WITH
found AS (
  SELECT pid, NULL AS process_name, count(*) AS op_count, sum(dur_ns) AS gpu_ns, 0 AS call_count
  FROM all_gpu_op
  GROUP BY pid
  UNION ALL
  SELECT pid, NULL, count(*), sum(dur_ns), 0
  FROM all_graph_trace
  GROUP BY pid
  UNION ALL
  SELECT pid, NULL, 0, 0, count(*)
  FROM all_cuda_call
  GROUP BY pid
  UNION ALL
  SELECT pid, process_name, 0, 0, 0
  FROM process
)
SELECT
  pid,
  min(process_name) AS process_name,
  sum(op_count) AS op_count,
  sum(gpu_ns) AS gpu_ns,
  sum(call_count) AS call_count
FROM found
WHERE pid IS NOT NULL
GROUP BY pid
ORDER BY op_count DESC, call_count DESC, pid
