/*---
name: serving_step
summary: One row per step of an inference engine, with its batch and its GPU time.
present_if: [src_nvtx_event]
stored: true
reads: [serving_annotation, serving_op]
columns:
  - {name: range_id, type: id, doc: "Row ID of the step's range in the raw table."}
  - {name: step, type: int, doc: "Position by start among the steps of the thread, from 0."}
  - {name: rule, type: text, doc: "Form of the name; see serving_annotation."}
  - {name: range_text, type: text, doc: "Name of the range, without its domain."}
  - {name: kind, type: text, doc: "prefill, decode, mixed (both in one batch) or other."}
  - {name: sequences, type: int, unit: count, doc: "Sequences of the batch; null if the name does not contain it."}
  - {name: tokens, type: int, unit: count, doc: "New tokens of the batch; null if the name does not contain it."}
  - {name: prefill_sequences, type: int, unit: count, doc: "Sequences in prefill; null if the name does not contain it."}
  - {name: decode_sequences, type: int, unit: count, doc: "Sequences in decode; null if the name does not contain it."}
  - {name: prefill_tokens, type: int, unit: count, doc: "New tokens of the sequences in prefill; null if the name does not contain it."}
  - {name: decode_tokens, type: int, unit: count, doc: "New tokens of the sequences in decode; null if the name does not contain it."}
  - {name: prefill_context_tokens, type: int, unit: count, doc: "Context lengths of the sequences in prefill, added up; null if the name does not contain it."}
  - {name: decode_context_tokens, type: int, unit: count, doc: "Context lengths of the sequences in decode, added up; null if the name does not contain it."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range on the CPU."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: host_gap_ns, type: duration, unit: ns, doc: "Time on the CPU from the end of the previous step of the thread to start_ns; null for its first step."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "Start of the first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "End of the last operation on the GPU; null without GPU work."}
  - {name: span_ns, type: duration, unit: ns, doc: "proj_end_ns - proj_start_ns; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of its operations ran; null without GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of its operations; 0 without GPU work."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Time on the GPU from the end of all earlier steps of the thread to proj_start_ns; 0 if they overlap; null for its first step with GPU work and without GPU work."}
  - {name: period_ns, type: duration, unit: ns, doc: "Time on the GPU from the end of all earlier steps of the thread to proj_end_ns; at least 0; span_ns for the first step with GPU work; null without GPU work."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched in the step."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: graph_launch_count, type: int, unit: count, doc: "Calls of launch_count that are graph launches."}
  - {name: graph_ns, type: duration, unit: ns, doc: "Part of gpu_ns that graph launches launched."}
  - {name: replay, type: text, doc: "eager without graph launches, graph with one, piecewise with several; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  GPU work is what the thread of the step launched in it; see serving_op. In the gap before a step, other work may run.
---*/
WITH
summed AS MATERIALIZED (
  SELECT
    range_id,
    min(start_ns) AS proj_start_ns,
    max(end_ns) AS proj_end_ns,
    busy_ns(start_ns, end_ns) AS busy_ns,
    sum(dur_ns) AS gpu_ns,
    count(*) AS op_count,
    count(DISTINCT call_id) AS launch_count,
    count(DISTINCT iif(is_graph, call_id, NULL)) AS graph_launch_count,
    sum(iif(is_graph, dur_ns, 0)) AS graph_ns
  FROM serving_op
  GROUP BY range_id
)
SELECT
  step.range_id,
  step.step,
  step.rule,
  step.range_text,
  step.kind,
  step.sequences,
  step.tokens,
  step.prefill_sequences,
  step.decode_sequences,
  step.prefill_tokens,
  step.decode_tokens,
  step.prefill_context_tokens,
  step.decode_context_tokens,
  step.start_ns,
  step.end_ns,
  step.dur_ns,
  step.host_gap_ns,
  summed.proj_start_ns,
  summed.proj_end_ns,
  summed.proj_end_ns - summed.proj_start_ns AS span_ns,
  summed.busy_ns,
  coalesce(summed.gpu_ns, 0) AS gpu_ns,
  max(summed.proj_start_ns - max(summed.proj_end_ns) OVER earlier, 0) AS gap_ns,
  max(summed.proj_end_ns - coalesce(max(summed.proj_end_ns) OVER earlier, summed.proj_start_ns), 0) AS period_ns,
  coalesce(summed.op_count, 0) AS op_count,
  coalesce(summed.launch_count, 0) AS launch_count,
  coalesce(summed.graph_launch_count, 0) AS graph_launch_count,
  coalesce(summed.graph_ns, 0) AS graph_ns,
  CASE
    WHEN summed.graph_launch_count > 1 THEN 'piecewise'
    WHEN summed.graph_launch_count = 1 THEN 'graph'
    WHEN summed.graph_launch_count = 0 THEN 'eager'
  END AS replay,
  step.pid,
  step.tid,
  step.global_tid
FROM serving_annotation AS step
LEFT JOIN summed
  ON summed.range_id = step.range_id
WINDOW earlier AS (
  PARTITION BY step.global_tid
  ORDER BY step.step
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
)
