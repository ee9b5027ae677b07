/*---
name: xla_op_sum
version: 1
title: GPU time by XLA module and operation
summary: GPU time of each HLO operation or module of an XLA program (JAX, TensorFlow).
why: To see which compiled function of JAX, and which operation in it, takes the GPU's time.
kind: sum
tags: [cuda, gpu, kernel]
reads: [graph_trace, kernel, xla_op]
requires: [kernel | graph_trace, xla_op]
rows_if: EXISTS (SELECT 1 FROM xla_op)
params:
  - {name: by, type: enum, values: [op, module, kernel], default: op, doc: "op: one row per HLO operation of a module; module: one row per module; kernel: one row per kernel of an operation, which shows what a command buffer runs."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all. The rest is one row, and so are kernels outside all operations."}
columns:
  - {name: module_name, type: text, label: "XLA module", priority: 0, doc: "Module, such as jit_train_step: a function that XLA compiled. (further) for the rows beyond the limit, (outside) for kernels outside all modules and operations; null if only the operation is known."}
  - {name: hlo_op, type: text, label: "HLO operation", priority: 0, doc: "Operation of the module, such as loop_add_fusion; command_buffer for a CUDA graph of several. Null with by=module, and if unknown."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel, which XLA names after the operation inside a command buffer; null without by=kernel, and for a graph."}
  - {name: place, type: text, label: "place in the program", priority: 2, doc: "What the operation was made from, such as jit(train_step)/dot_general; null if several places were, and if unknown."}
  - {name: run_count, type: int, unit: count, label: "runs", priority: 2, doc: "Runs of the module that launched the operation; null if not recorded, as in a trace of XLA."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Kernels that it launched."}
  - {name: graph_count, type: int, unit: count, label: "graphs", priority: 2, doc: "CUDA graphs traced as a whole that it launched: their kernels were not recorded."}
  - {name: total_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of its kernels and graphs."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "total_ns as a share of the sum of all rows."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 3, doc: "Sum of the durations of its kernels. All rows add up to the time of all kernels."}
checks:
  - total_ns >= kernel_ns AND kernel_count + graph_count > 0
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
when_empty: "no kernel has an XLA module: traces of jax.profiler have them, and reports of nsys of JAX programs with NVTX ranges"
limits: >-
  Copies and fills are not included. Kernels in a command buffer carry its name: by=kernel has their own names. In a report of nsys,
  a graph traced as a whole is one operation; --cuda-graph-trace=node records its kernels. Operations of the same name in
  modules of the same name count as one.
see_also: [top_kernels, gpu_time_by_range, module_time]
---*/
WITH
op AS (
  SELECT 'kernel' AS op_kind, kernel_id AS op_id, dur_ns, iif(:by = 'kernel', short_name, NULL) AS kernel_name
  FROM kernel
  UNION ALL
  SELECT 'graph' AS op_kind, graph_trace_id AS op_id, dur_ns, NULL
  FROM graph_trace
),
summed AS (
  SELECT
    named.op_id IS NULL AS is_outside,
    named.module_name,
    iif(:by = 'module', NULL, named.hlo_op) AS hlo_op,
    iif(named.op_id IS NULL, NULL, op.kernel_name) AS kernel_name,
    iif(:by <> 'module' AND min(named.place) = max(named.place), min(named.place), NULL) AS place,
    count(DISTINCT named.module_range_id) AS run_count,
    sum(op.op_kind = 'kernel') AS kernel_count,
    sum(op.op_kind = 'graph') AS graph_count,
    sum(op.dur_ns) AS total_ns,
    sum(iif(op.op_kind = 'kernel', op.dur_ns, 0)) AS kernel_ns
  FROM op
  LEFT JOIN xla_op AS named
    ON named.op_kind = op.op_kind
    AND named.op_id = op.op_id
  WHERE EXISTS (SELECT 1 FROM xla_op)
  GROUP BY
    named.op_id IS NULL,
    named.module_name,
    iif(:by = 'module', NULL, named.hlo_op),
    iif(named.op_id IS NULL, NULL, op.kernel_name)
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY is_outside ORDER BY total_ns DESC, module_name, hlo_op, kernel_name) AS nth
  FROM summed
),
-- Those beyond the limit are one row, and so are kernels outside. Both have no rank.
listed AS (
  SELECT *, iif(is_outside OR nth > :limit AND :limit >= 0, NULL, nth) AS rank
  FROM ranked
)
SELECT
  CASE
    WHEN is_outside THEN '(outside)'
    WHEN rank IS NULL THEN '(further)'
    ELSE module_name
  END AS module_name,
  iif(rank IS NULL, NULL, hlo_op) AS hlo_op,
  iif(rank IS NULL, NULL, kernel_name) AS kernel_name,
  iif(rank IS NULL, NULL, place) AS place,
  iif(rank IS NULL, NULL, nullif(run_count, 0)) AS run_count,
  sum(kernel_count) AS kernel_count,
  sum(graph_count) AS graph_count,
  sum(total_ns) AS total_ns,
  100.0 * sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS share_pct,
  sum(kernel_ns) AS kernel_ns
FROM listed
GROUP BY is_outside, rank
ORDER BY is_outside, rank IS NULL, rank
