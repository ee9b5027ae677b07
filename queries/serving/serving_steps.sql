/*---
name: serving_steps
version: 1
title: Serving steps
summary: Steps of an inference engine, with their batch and GPU time.
why: To see which prefill and decode steps ran, how long they kept the GPU busy, and how long it waited before them.
kind: trace
tags: [cuda, gpu, nvtx]
reads: [serving_step]
requires: [nvtx_range, nvtx_op]
params:
  - {name: kind, type: enum, values: [all, prefill, decode, mixed, other], default: all, doc: "Kind of the steps to return."}
  - {name: limit, type: int, default: -1, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: step, type: int, priority: 0, doc: "Position by start among the steps of the thread, from 0."}
  - {name: kind, type: text, priority: 0, doc: "prefill, decode, mixed (both in one batch) or other."}
  - {name: sequences, type: int, unit: count, priority: 1, doc: "Sequences of the batch; null if the name does not contain it."}
  - {name: tokens, type: int, unit: count, label: "new tokens", priority: 1, doc: "New tokens of the batch; null if the name does not contain it."}
  - {name: prefill_sequences, type: int, unit: count, priority: 3, doc: "Sequences in prefill; null if the name does not contain it."}
  - {name: prefill_tokens, type: int, unit: count, priority: 3, doc: "New tokens of the sequences in prefill; null if the name does not contain it."}
  - {name: prefill_context_tokens, type: int, unit: count, priority: 3, doc: "Context lengths of the sequences in prefill, added up, with the new tokens; null if the name does not contain it."}
  - {name: decode_sequences, type: int, unit: count, priority: 3, doc: "Sequences in decode; null if the name does not contain it."}
  - {name: decode_tokens, type: int, unit: count, priority: 3, doc: "New tokens of the sequences in decode; null if the name does not contain it."}
  - {name: decode_context_tokens, type: int, unit: count, priority: 3, doc: "Context lengths of the sequences in decode, added up, with the new tokens; null if the name does not contain it."}
  - {name: span_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "Time from the start of its first operation on the GPU to the end of its last; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of its operations ran; null without GPU work."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap before on the GPU", priority: 1, doc: "Time on the GPU between the work of earlier steps and this one; 0 if they overlap; null for the first step and without GPU work."}
  - {name: host_gap_ns, type: duration, unit: ns, label: "gap before on the CPU", priority: 2, doc: "Time on the CPU from the end of the previous step to the start of this one; null for the first step."}
  - {name: replay, type: text, label: "launched as", priority: 1, doc: "eager without graph launches, graph with one, piecewise with several; null without GPU work."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 2, doc: "GPU operations launched in the step."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: graph_launch_count, type: int, unit: count, label: "graph launches", priority: 3, doc: "Calls of launch_count that are graph launches."}
  - {name: graph_pct, type: percent, unit: percent, label: "graphs % of GPU time", priority: 3, doc: "Operations of graph launches as a share of the summed durations of all operations; null without GPU work."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the step on the CPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "CPU time", priority: 2, doc: "Duration of the step on the CPU."}
  - {name: proj_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "Start of its first operation on the GPU; null without GPU work."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the step's range in the raw table."}
  - {name: range_name, type: text, label: "annotation", priority: 3, doc: "Name of the range that annotates the step."}
checks:
  - step >= 0 AND dur_ns >= 0
  - busy_ns IS NULL OR busy_ns <= span_ns
  - graph_launch_count <= launch_count AND launch_count <= op_count
  - (op_count = 0) = (span_ns IS NULL)
when_empty: >-
  no range has the name of a serving step, such as execute_context_1(888)_generation_0(0) or step[DECODE bs=32]
limits: >-
  Steps are found by the names that vLLM, SGLang and TensorRT-LLM give to their annotations; serving_annotation lists the
  forms. GPU work counts if the thread of the step launched it in the step. Work of other threads, and sampling outside
  the annotation, is not included. In the gap before a step, other work may run.
see_also: [serving_sum, decode_gaps, graph_replays, iterations]
---*/
SELECT
  step,
  kind,
  sequences,
  tokens,
  prefill_sequences,
  prefill_tokens,
  prefill_context_tokens,
  decode_sequences,
  decode_tokens,
  decode_context_tokens,
  span_ns,
  busy_ns,
  gap_ns,
  host_gap_ns,
  replay,
  op_count,
  launch_count,
  graph_launch_count,
  100.0 * graph_ns / nullif(gpu_ns, 0) AS graph_pct,
  start_ns,
  dur_ns,
  proj_start_ns,
  pid,
  tid,
  range_id,
  range_text AS range_name
FROM serving_step
WHERE :kind IN ('all', kind)
ORDER BY start_ns, range_id
LIMIT :limit
