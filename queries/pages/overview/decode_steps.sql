/*---
name: decode_steps
version: 1
title: Decode of an inference engine
summary: The share of decode in the steps of an inference engine, and its tokens.
why: Decode reads every weight for a few tokens, so that memory bounds it, not arithmetic.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [serving_annotation, serving_step]
requires: [serving_step]
rows_if: EXISTS (SELECT 1 FROM serving_annotation)
columns:
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps that only decode."}
  - {name: mean_tokens, type: real, label: "tokens", priority: 0, doc: "New tokens of these steps, on average; null without them."}
  - {name: time_pct, type: percent, unit: percent, label: "% of steps' GPU time", priority: 0, doc: "GPU time of these steps as a share of all steps; null without GPU time."}
limits: Steps are known by the names of their ranges; see serving_annotation.
---*/
SELECT
  coalesce(sum(kind = 'decode'), 0) AS step_count,
  avg(iif(kind = 'decode', tokens, NULL)) AS mean_tokens,
  100.0 * sum(iif(kind = 'decode', gpu_ns, 0)) / nullif(sum(gpu_ns), 0) AS time_pct
FROM serving_step
HAVING count(*) > 0
ORDER BY step_count
