/*---
name: gpu_span
version: 1
title: Span of CUDA activity
summary: Time from the first to the last CUDA activity, and its counts, in one row.
why: To know the time that shares of GPU work refer to.
kind: info
tags: [capture, cuda, gpu]
reads: [cuda_call, graph_trace, kernel, memcpy, memset, process_device]
requires: [kernel | memcpy | memset | graph_trace | cuda_call]
columns:
  - {name: span_start_ns, type: timestamp, unit: ns, priority: 3, doc: "First start of a GPU operation or CUDA API call; null if there is none."}
  - {name: span_end_ns, type: timestamp, unit: ns, priority: 3, doc: "Last end of a GPU operation or CUDA API call; null if there is none."}
  - {name: span_ns, type: duration, unit: ns, priority: 1, doc: "span_end_ns - span_start_ns."}
  - {name: gpu_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "First start of a GPU operation; null if there is none."}
  - {name: gpu_end_ns, type: timestamp, unit: ns, label: "GPU end", priority: 3, doc: "Last end of a GPU operation; null if there is none."}
  - {name: gpu_span_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "gpu_end_ns - gpu_start_ns."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 1, doc: "Number of GPUs that ran operations; number of CUDA device ordinals if the export has no GPU numbers."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "Number of kernels, copies and fills."}
  - {name: graph_count, type: int, unit: count, label: "CUDA graphs", doc: "Executions of CUDA graphs traced as a whole. op_count does not include their kernels."}
  - {name: call_count, type: int, unit: count, label: "API calls", priority: 1, doc: "Number of CUDA API calls."}
checks:
  - span_ns >= gpu_span_ns OR gpu_span_ns IS NULL
limits: >-
  The span is that of the capture, including what profiling adds. It can begin after the program did. Time before the
  first and after the last CUDA activity is not included.
see_also: [gpu_time, gpu_elapsed, gpu_share, report_info]
---*/
WITH
activity AS (
  SELECT 'op' AS activity_kind, device_id, global_pid, start_ns, end_ns FROM kernel
  UNION ALL
  SELECT 'op' AS activity_kind, device_id, global_pid, start_ns, end_ns FROM memcpy
  UNION ALL
  SELECT 'op' AS activity_kind, device_id, global_pid, start_ns, end_ns FROM memset
  UNION ALL
  SELECT 'graph' AS activity_kind, device_id, global_pid, start_ns, end_ns FROM graph_trace
  UNION ALL
  SELECT 'call' AS activity_kind, NULL AS device_id, global_pid, start_ns, end_ns FROM cuda_call
)
SELECT
  min(start_ns) AS span_start_ns,
  max(end_ns) AS span_end_ns,
  max(end_ns) - min(start_ns) AS span_ns,
  min(start_ns) FILTER (WHERE activity_kind <> 'call') AS gpu_start_ns,
  max(end_ns) FILTER (WHERE activity_kind <> 'call') AS gpu_end_ns,
  max(end_ns) FILTER (WHERE activity_kind <> 'call')
    - min(start_ns) FILTER (WHERE activity_kind <> 'call') AS gpu_span_ns,
  (
    SELECT count(DISTINCT process_device.gpu_id)
    FROM (SELECT DISTINCT global_pid, device_id FROM activity) AS used
    JOIN process_device
      ON process_device.device_id = used.device_id
      AND process_device.global_pid IS NOT DISTINCT FROM used.global_pid
  ) AS gpu_count,
  count(*) FILTER (WHERE activity_kind = 'op') AS op_count,
  count(*) FILTER (WHERE activity_kind = 'graph') AS graph_count,
  count(*) FILTER (WHERE activity_kind = 'call') AS call_count
FROM activity
