/*---
name: serving_sum
version: 2
title: Serving steps by kind and batch size
summary: Steps of an inference engine by kind and batch size, with tokens per second.
why: To see the throughput and the time per output token of each batch size, and what fills the GPU in its steps.
kind: sum
tags: [classes, cuda, gpu, nvtx]
reads: [all_kernel, serving_op, serving_step]
requires: [nvtx_range, nvtx_op]
columns:
  - {name: kind, type: text, priority: 0, doc: "prefill, decode, mixed (both in one batch) or other."}
  - {name: least_sequences, type: int, unit: count, label: "sequences from", priority: 0, doc: "Smallest batch of the row. Rows are the powers of two: 1, 2 to 3, 4 to 7 and so on; null if the names do not contain it."}
  - {name: most_sequences, type: int, unit: count, label: "sequences to", priority: 0, doc: "Largest batch of the row; null as least_sequences is."}
  - {name: steps, type: int, unit: count, priority: 1, doc: "Number of steps."}
  - {name: unseen_steps, type: int, unit: count, label: "without GPU work", priority: 1, doc: "Steps of which the report has no GPU work: launch_outcomes says whether it is lost. All columns after this one are about the other steps, and null if there are none."}
  - {name: tokens, type: int, unit: count, label: "new tokens", priority: 1, doc: "New tokens of the steps with GPU work; null if a name does not contain it."}
  - {name: tokens_per_s, type: real, label: "tokens/s", priority: 1, doc: "tokens / period_ns, in tokens per second; null if tokens is."}
  - {name: period_ns, type: duration, unit: ns, label: "GPU time with gaps", priority: 2, doc: "Sum of the periods. A period ends with the last GPU operation of a step, and begins where that of the step before ended; the first, and one after a step without GPU work, begins with its step."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean period", priority: 2, doc: "Mean period. For decode and mixed steps, this is the time per output token of a sequence that gets one token in each step."}
  - {name: p50_ns, type: duration, unit: ns, label: "median period", priority: 1, doc: "Median of the periods."}
  - {name: p90_ns, type: duration, unit: ns, label: "p90 period", priority: 2, doc: "90th percentile of the periods."}
  - {name: p99_ns, type: duration, unit: ns, label: "p99 period", priority: 1, doc: "99th percentile of the periods."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 2, doc: "Sum of the times in which at least one operation of a step ran."}
  - {name: gap_ns, type: duration, unit: ns, label: "gaps before steps", priority: 1, doc: "Sum of the times on the GPU between the work of a step and that of the steps before; part of period_ns."}
  - {name: graph_steps, type: int, unit: count, label: "steps with graphs", priority: 2, doc: "Steps with at least one graph launch."}
  - {name: gpu_ns, type: duration, unit: ns, label: "operations, summed", priority: 3, doc: "Sum of the durations of the operations of the steps."}
  - {name: attention_pct, type: percent, unit: percent, label: "attention % of op. time", priority: 2, doc: "Kernels of the class attention as a share of gpu_ns."}
  - {name: gemm_pct, type: percent, unit: percent, label: "GEMM % of op. time", priority: 2, doc: "Kernels of the class gemm as a share of gpu_ns."}
  - {name: moe_pct, type: percent, unit: percent, label: "MoE % of op. time", priority: 3, doc: "Kernels of the class moe as a share of gpu_ns."}
  - {name: communication_pct, type: percent, unit: percent, label: "communication % of op. time", priority: 2, doc: "Kernels of the class communication as a share of gpu_ns."}
  - {name: rest_pct, type: percent, unit: percent, label: "rest % of op. time", priority: 3, doc: "All other kernels, copies, fills and CUDA graphs traced as a whole as a share of gpu_ns."}
checks:
  - unseen_steps BETWEEN 0 AND steps AND coalesce(graph_steps, 0) <= steps - unseen_steps
  - (unseen_steps = steps) = (period_ns IS NULL)
  - period_ns IS NULL OR period_ns >= 0 AND gap_ns <= period_ns
  - least_sequences IS NULL OR least_sequences <= most_sequences
  - coalesce(gpu_ns, 0) = 0 OR abs(attention_pct + gemm_pct + moe_pct + communication_pct + rest_pct - 100) < 0.000001
when_empty: "the report has no step of an inference engine; serving_annotation says which names are steps"
limits: >-
  Periods contain the time in which the engine had no requests. With speculative decoding, a sequence gets several
  tokens in a step, so mean_ns is the time per step. Names of MIXED steps of SGLang and of TensorRT-LLM do not show how
  many tokens are in decode. Classes come from the class map of --classes, by kernel name. Kernels of a CUDA graph traced
  as a whole are not recorded. In the gaps, other work may run.
see_also: [serving_steps, decode_gaps, class_sum]
---*/
WITH
step AS MATERIALIZED (
  SELECT
    *,
    op_count > 0 AS is_seen,
    coalesce(lag(op_count > 0) OVER (PARTITION BY global_tid ORDER BY step), 1) AS follows_seen,
    CASE
      WHEN sequences < 1 THEN 0
      ELSE (
        WITH power (size) AS (VALUES (1) UNION ALL SELECT 2 * size FROM power WHERE 2 * size <= sequences)
        SELECT max(size)
        FROM power
        WHERE sequences IS NOT NULL
      )
    END AS bucket
  FROM serving_step
),
op AS MATERIALIZED (
  SELECT
    range_id,
    dur_ns,
    op_id,
    iif(op_kind = 'kernel', (SELECT name_id FROM all_kernel WHERE kernel_id = op_id), NULL) AS name_id
  FROM serving_op
),
-- Look up each name and its class once, by the name's ID.
named_class AS MATERIALIZED (
  SELECT name_id, op_class((SELECT kernel_name FROM all_kernel WHERE kernel_id = any_op_id)) AS class
  FROM (SELECT name_id, min(op_id) AS any_op_id FROM op WHERE name_id IS NOT NULL GROUP BY name_id)
),
classed AS (
  SELECT
    step.kind,
    step.bucket,
    sum(iif(named_class.class = 'attention', op.dur_ns, 0)) AS attention_ns,
    sum(iif(named_class.class = 'gemm', op.dur_ns, 0)) AS gemm_ns,
    sum(iif(named_class.class = 'moe', op.dur_ns, 0)) AS moe_ns,
    sum(iif(named_class.class = 'communication', op.dur_ns, 0)) AS communication_ns
  FROM op
  JOIN step
    ON step.range_id = op.range_id
  LEFT JOIN named_class
    ON named_class.name_id = op.name_id
  GROUP BY step.kind, step.bucket
),
summed AS (
  SELECT
    kind,
    bucket,
    min(sequences) AS least_sequences,
    max(sequences) AS most_sequences,
    count(*) AS steps,
    count(*) - sum(is_seen) AS unseen_steps,
    iif(count(iif(is_seen, tokens, NULL)) = sum(is_seen), sum(iif(is_seen, tokens, NULL)), NULL) AS tokens,
    sum(own_period_ns) AS period_ns,
    avg(own_period_ns) AS mean_ns,
    median(own_period_ns) AS p50_ns,
    percentile(own_period_ns, 90) AS p90_ns,
    percentile(own_period_ns, 99) AS p99_ns,
    sum(busy_ns) AS busy_ns,
    iif(sum(is_seen) > 0, coalesce(sum(iif(follows_seen, gap_ns, 0)), 0), NULL) AS gap_ns,
    sum(iif(is_seen, graph_launch_count > 0, NULL)) AS graph_steps,
    sum(iif(is_seen, gpu_ns, NULL)) AS gpu_ns
  FROM (SELECT *, iif(follows_seen, period_ns, span_ns) AS own_period_ns FROM step)
  GROUP BY kind, bucket
)
SELECT
  summed.kind,
  summed.least_sequences,
  summed.most_sequences,
  summed.steps,
  summed.unseen_steps,
  summed.tokens,
  1e9 * summed.tokens / nullif(summed.period_ns, 0) AS tokens_per_s,
  summed.period_ns,
  summed.mean_ns,
  summed.p50_ns,
  summed.p90_ns,
  summed.p99_ns,
  summed.busy_ns,
  summed.gap_ns,
  summed.graph_steps,
  summed.gpu_ns,
  100.0 * classed.attention_ns / nullif(summed.gpu_ns, 0) AS attention_pct,
  100.0 * classed.gemm_ns / nullif(summed.gpu_ns, 0) AS gemm_pct,
  100.0 * classed.moe_ns / nullif(summed.gpu_ns, 0) AS moe_pct,
  100.0 * classed.communication_ns / nullif(summed.gpu_ns, 0) AS communication_pct,
  100.0 * (
    summed.gpu_ns - classed.attention_ns - classed.gemm_ns - classed.moe_ns - classed.communication_ns
  ) / nullif(summed.gpu_ns, 0) AS rest_pct
FROM summed
LEFT JOIN classed
  ON classed.kind = summed.kind
  AND coalesce(classed.bucket, -1) = coalesce(summed.bucket, -1)
GROUP BY summed.kind, summed.bucket
ORDER BY summed.kind, summed.bucket
