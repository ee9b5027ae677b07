/*---
name: diff_sequence
version: 1
title: Launches of a step
summary: Each GPU operation of the median step, in the order of launches.
why: To see which kernel of another run stands in the place of which.
kind: trace
tags: [cuda, gpu, kernel]
internal: true
reads: [all_cuda_call, gpu_op, graph_trace, launch, step_window]
requires: [gpu_op | graph_trace]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
columns:
  - {name: rank, type: int, priority: 0, doc: "Place in the order of launches, from 0; of operations without a launching call, in the order of their starts."}
  - {name: name_rank, type: int, priority: 3, doc: "Place of the first operation with the same name."}
  - {name: name, type: text, priority: 0, doc: "Demangled kernel name, copy or fill; [CUDA graph] for a graph that was traced as a whole. Null if name_rank is another one."}
  - {name: class, type: text, priority: 1, doc: "Class of the operation."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Execution time."}
when_empty: "the report has no steps"
limits: >-
  Of several GPUs, the one with the lowest number. An operation belongs to the step in whose window on its GPU it starts.
see_also: [diff_places, steps]
---*/
WITH
usual AS MATERIALIZED (
  SELECT pid, device_id, start_ns, end_ns
  FROM step_window
  WHERE :per_iteration
    AND part = 'median'
  ORDER BY gpu_id, global_tid
  LIMIT 1
),
graph AS MATERIALIZED (
  SELECT graph.graph_trace_id, graph.start_ns, graph.dur_ns, graph.correlation_id, graph.global_pid
  FROM usual
  JOIN graph_trace AS graph
    ON graph.pid = usual.pid
    AND graph.device_id = usual.device_id
    AND graph.start_ns >= usual.start_ns
    AND graph.start_ns < usual.end_ns
),
graph_call AS (
  SELECT graph.graph_trace_id, min(call.start_ns) AS start_ns
  FROM all_cuda_call AS call
  CROSS JOIN graph
  WHERE EXISTS (SELECT 1 FROM graph)
    AND call.correlation_id = graph.correlation_id
    AND call.global_pid = graph.global_pid
  GROUP BY graph.graph_trace_id
),
op AS MATERIALIZED (
  SELECT
    op.op_kind,
    op.op_id,
    op.op_name,
    op_class(op.op_name) AS class,
    op.start_ns,
    op.dur_ns,
    coalesce(launch.call_start_ns, op.start_ns) AS launched_ns
  FROM usual
  JOIN gpu_op AS op
    ON op.pid = usual.pid
    AND op.device_id = usual.device_id
    AND op.start_ns >= usual.start_ns
    AND op.start_ns < usual.end_ns
  LEFT JOIN launch
    ON launch.op_kind = op.op_kind
    AND launch.op_id = op.op_id
  UNION ALL
  SELECT
    'graph',
    graph.graph_trace_id,
    '[CUDA graph]',
    'CUDA graph',
    graph.start_ns,
    graph.dur_ns,
    coalesce(graph_call.start_ns, graph.start_ns)
  FROM graph
  LEFT JOIN graph_call
    ON graph_call.graph_trace_id = graph.graph_trace_id
),
placed AS (
  SELECT *, row_number() OVER (ORDER BY launched_ns, start_ns, op_kind, op_id) - 1 AS rank
  FROM op
),
named AS (
  SELECT *, min(rank) OVER (PARTITION BY op_name) AS name_rank
  FROM placed
)
SELECT
  rank,
  name_rank,
  iif(rank = name_rank, op_name, NULL) AS name,
  class,
  start_ns,
  dur_ns
FROM named
ORDER BY rank
