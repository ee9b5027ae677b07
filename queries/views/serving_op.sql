/*---
name: serving_op
summary: One row per GPU operation that was launched in a step of an inference engine.
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_serving_annotation, nvtx_op, string]
columns:
  - {name: range_id, type: id, doc: "Step that launched the operation, an ID in serving_step."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: call_id, type: id, doc: "Launching API call in cuda_call."}
  - {name: is_graph, type: bool, doc: "1 if a graph launch (cuGraphLaunch, cudaGraphLaunch, hipGraphLaunch) launched the operation."}
limits: >-
  An operation belongs to the step on its launching thread that is open during the whole launching call. Operations that
  other threads launch are in no step; --attribute has no effect here.
---*/
WITH
step AS MATERIALIZED (
  SELECT
    range_id,
    global_tid,
    end_ns,
    start_ns,
    step + 1 AS nth
  FROM all_serving_annotation
),
op AS MATERIALIZED (
  SELECT op_kind, op_id, start_ns, end_ns, dur_ns, call_id, call_start_ns, call_end_ns, global_tid
  FROM nvtx_op
  WHERE global_tid IN (SELECT global_tid FROM step)
),
-- Steps and launching calls in order of time. For each call, the number of steps of its thread that have begun.
event AS (
  SELECT global_tid, start_ns AS at_ns, 1 AS is_step, NULL AS call_id
  FROM step
  UNION ALL
  SELECT DISTINCT global_tid, call_start_ns, 0, call_id
  FROM op
),
begun AS MATERIALIZED (
  SELECT
    call_id,
    sum(is_step) OVER (PARTITION BY global_tid ORDER BY at_ns, is_step DESC ROWS UNBOUNDED PRECEDING) AS nth
  FROM event
),
graph_launch AS (
  SELECT call_id
  FROM all_cuda_call
  WHERE name_id IN (SELECT string_id FROM string WHERE text GLOB '*GraphLaunch*')
)
SELECT
  step.range_id,
  op.op_kind,
  op.op_id,
  op.start_ns,
  op.end_ns,
  op.dur_ns,
  op.call_id,
  op.call_id IN (SELECT call_id FROM graph_launch) AS is_graph
FROM op
JOIN begun
  ON begun.call_id = op.call_id
JOIN step
  ON step.global_tid = op.global_tid
  AND step.nth = begun.nth
  AND step.end_ns >= op.call_end_ns
