/*---
name: single_step
version: 3
title: The only step
summary: The step of a capture in which a range marks just one.
why: Nothing repeats then, and no step was missed.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [nvtx_name, nvtx_range, serving_annotation, serving_step]
requires: [nvtx_range]
rows_if: EXISTS (SELECT 1 FROM serving_annotation) OR EXISTS (SELECT 1 FROM nvtx_name WHERE range_text GLOB 'ProfilerStep[#]*')
columns:
  - {name: step_name, type: text, priority: 0, doc: "Name of its range, without its domain."}
  - {name: kind, type: text, priority: 0, doc: "Of an inference engine: prefill, decode, mixed or other; else null."}
  - {name: tokens, type: int, unit: count, priority: 1, doc: "New tokens of its batch; null if unknown."}
  - {name: replay, type: text, label: "launched as", priority: 1, doc: "eager without graph launches, graph with one, piecewise with several; null if unknown."}
  - {name: dur_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of its range on the CPU."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of its range in the raw table."}
limits: Steps are known by the names that inference engines and the PyTorch profiler give to ranges; see serving_annotation.
---*/
WITH
step AS MATERIALIZED (
  SELECT range_id, range_text AS step_name, kind, tokens, replay, dur_ns, 1 AS is_served
  FROM serving_step
  UNION ALL
  SELECT range_id, range_text, NULL, NULL, NULL, dur_ns, 0
  FROM nvtx_range
  WHERE range_text GLOB 'ProfilerStep[#]*'
),
-- A profiled step of an engine has its step in it.
likely AS (
  SELECT *
  FROM step
  WHERE is_served = (SELECT max(is_served) FROM step)
)
SELECT step_name, kind, tokens, replay, dur_ns, range_id
FROM likely
WHERE 1 = (SELECT count(*) FROM likely)
ORDER BY range_id
