/*---
name: single_step
version: 2
title: The only step
summary: The step of a capture in which a range marks just one.
why: Nothing repeats then, and no step was missed.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [gpu_window, nvtx_projection, nvtx_range, serving_annotation, serving_step, string]
requires: [nvtx_range]
rows_if: EXISTS (SELECT 1 FROM serving_annotation) OR EXISTS (SELECT 1 FROM string WHERE text GLOB 'ProfilerStep[#]*')
columns:
  - {name: step_name, type: text, priority: 0, doc: "Name of its range, without its domain."}
  - {name: kind, type: text, priority: 0, doc: "Of an inference engine: prefill, decode, mixed or other; else null."}
  - {name: tokens, type: int, unit: count, priority: 1, doc: "New tokens of its batch; null if unknown."}
  - {name: replay, type: text, label: "launched as", priority: 1, doc: "eager without graph launches, graph with one, piecewise with several; null if unknown."}
  - {name: dur_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of its range on the CPU."}
  - {name: window_ns, type: duration, unit: ns, label: "step", priority: 1, doc: "From the start of its range to the end of the range or of its GPU work, whichever is later; null without GPU work."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle", priority: 1, doc: "Share of window_ns in which a GPU idles, mean of GPUs; null without GPU work."}
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
single AS MATERIALIZED (
  SELECT *
  FROM step
  WHERE is_served = (SELECT max(is_served) FROM step)
    AND 1 = (SELECT count(*) FROM step WHERE is_served = (SELECT max(is_served) FROM step))
),
spanned AS MATERIALIZED (
  SELECT range_id, start_ns, max(end_ns, proj_end_ns) AS end_ns
  FROM nvtx_projection
  WHERE range_id IN (SELECT range_id FROM single)
    AND proj_end_ns IS NOT NULL
),
timed AS (
  SELECT spanned.range_id, 100.0 * avg(gpu.idle_ns) / avg(gpu.window_ns) AS idle_pct
  FROM spanned
  CROSS JOIN gpu_window AS gpu
  WHERE gpu.start_ns = spanned.start_ns
    AND gpu.end_ns = spanned.end_ns
  GROUP BY spanned.range_id
)
SELECT
  single.step_name,
  single.kind,
  single.tokens,
  single.replay,
  single.dur_ns,
  spanned.end_ns - spanned.start_ns AS window_ns,
  timed.idle_pct,
  single.range_id
FROM single
LEFT JOIN spanned
  ON spanned.range_id = single.range_id
LEFT JOIN timed
  ON timed.range_id = single.range_id
ORDER BY single.range_id
