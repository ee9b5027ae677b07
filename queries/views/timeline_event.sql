/*---
name: timeline_event
summary: One row per event of a timeline, with the lane that it is drawn on.
internal: true
present_if: [gpu_op, graph_trace, nvtx_span, cuda_call, os_call, thread_state]
reads: [cuda_call, graph_trace, host_part, kernel, memcpy, memset, nvtx_projection, nvtx_span, os_call, step_window, string, thread_state]
columns:
  - {name: kind, type: int, doc: "Kind of lane: 0 steps, 1 idle time of a GPU, 2 stream, 3 NVTX ranges on the GPU, 4 NVTX ranges, 5 CUDA API, 6 OS calls, 7 states of a thread. Numbers sort faster than words."}
  - {name: place, type: id, doc: "Where the lane is: gpu_id for kinds 0 and 1, global_pid for kind 2, global_tid for others."}
  - {name: device_id, type: id, doc: "CUDA device ordinal for kind 2; null for others."}
  - {name: context_id, type: id, doc: "CUDA context for kind 2; null for others."}
  - {name: track, type: id, doc: "CUDA stream for kind 2, depth of the range for kinds 3 and 4, global_tid for kind 0; null for others."}
  - {name: source, type: text, doc: "What event_id identifies: kernel, memcpy, memset, graph, range, call or os; null for kinds 0, 1 and 7."}
  - {name: event_id, type: id, doc: "Row ID in the raw table of the source; null for kinds 0, 1 and 7."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the event, on the report's clock; of the first operation of a range on the GPU."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the event."}
  - {name: category, type: text, doc: "step, warm-up, tail, compute, communication, copy, fill, graph, range, call, the state of a thread, or the cause of idle time: part in host_part, or cause where the thread was outside CUDA and its state is known."}
  - {name: name, type: text, doc: "Name of the step for kind 0, function that the thread was in for kind 1, and state for kind 7; null for others, whose names the source has."}
limits: >-
  Threads have OS calls and states here if they call CUDA or have NVTX ranges; if no thread does, all threads have them.
---*/
WITH
activity AS MATERIALIZED (
  SELECT name_id, op_activity((SELECT text FROM string WHERE string_id = name_id)) AS activity
  FROM (SELECT DISTINCT name_id FROM kernel)
),
-- DISTINCT leaves few rows for UNION, which is slower.
working_thread AS MATERIALIZED (
  SELECT DISTINCT global_tid FROM cuda_call
  UNION
  SELECT DISTINCT global_tid FROM nvtx_span
),
shown_thread AS MATERIALIZED (
  SELECT global_tid FROM working_thread
  UNION
  SELECT global_tid
  FROM (SELECT DISTINCT global_tid FROM os_call UNION SELECT DISTINCT global_tid FROM thread_state)
  WHERE NOT EXISTS (SELECT 1 FROM working_thread)
)
SELECT
  0 AS kind,
  gpu_id AS place,
  NULL AS device_id,
  NULL AS context_id,
  global_tid AS track,
  NULL AS source,
  NULL AS event_id,
  start_ns,
  end_ns,
  iif(part IN ('warm-up', 'tail'), part, 'step') AS category,
  step_name AS name
FROM step_window
WHERE step_count > 1
  AND dur_ns > 0
UNION ALL
SELECT
  1,
  gpu_id,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  start_ns,
  end_ns,
  iif(part = 'outside CUDA API' AND cause <> 'unknown', cause, part),
  function_name
FROM host_part
UNION ALL
SELECT
  2,
  global_pid,
  device_id,
  context_id,
  stream_id,
  'kernel',
  kernel_id,
  start_ns,
  end_ns,
  (SELECT activity FROM activity WHERE activity.name_id = kernel.name_id),
  NULL
FROM kernel
UNION ALL
SELECT 2, global_pid, device_id, context_id, stream_id, 'memcpy', memcpy_id, start_ns, end_ns, 'copy', NULL
FROM memcpy
UNION ALL
SELECT 2, global_pid, device_id, context_id, stream_id, 'memset', memset_id, start_ns, end_ns, 'fill', NULL
FROM memset
UNION ALL
SELECT 2, global_pid, device_id, context_id, stream_id, 'graph', graph_trace_id, start_ns, end_ns, 'graph', NULL
FROM graph_trace
UNION ALL
SELECT 3, global_tid, NULL, NULL, depth, 'range', range_id, proj_start_ns, proj_end_ns, 'range', NULL
FROM nvtx_projection
WHERE proj_start_ns IS NOT NULL
UNION ALL
SELECT
  4,
  projection.global_tid,
  NULL,
  NULL,
  projection.depth,
  'range',
  projection.range_id,
  projection.start_ns,
  projection.end_ns,
  'range',
  NULL
FROM nvtx_span AS span
CROSS JOIN nvtx_projection AS projection
WHERE projection.range_id = span.range_id
UNION ALL
SELECT 5, global_tid, NULL, NULL, NULL, 'call', call_id, start_ns, end_ns, 'call', NULL
FROM cuda_call
UNION ALL
SELECT 6, global_tid, NULL, NULL, NULL, 'os', call_id, start_ns, end_ns, 'call', NULL
FROM os_call
WHERE global_tid IN (SELECT global_tid FROM shown_thread)
UNION ALL
SELECT 7, global_tid, NULL, NULL, NULL, NULL, NULL, start_ns, end_ns, state, state
FROM thread_state
WHERE global_tid IN (SELECT global_tid FROM shown_thread)
