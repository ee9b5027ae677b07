/*---
name: nvtx_coverage
version: 1
title: GPU work inside and outside NVTX ranges
summary: GPU work that NVTX ranges account for, and why the rest is in none.
why: To know how far per-range figures can be trusted, and what would make them complete.
kind: sum
tags: [capture, cuda, nvtx]
reads: [nvtx_op, scope]
columns:
  - {name: is_attributed, type: bool, doc: "1 if the work is in an NVTX range."}
  - {name: reason, type: text, doc: "attributed; attributed, graph-level trace; or why not: no API row, no open range, other thread, graph-level trace."}
  - {name: op_kind, type: text, doc: "kernel, memcpy, memset, or graph for a CUDA graph that was traced as a whole."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations of the kind."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of their lengths; operations that overlap count in full."}
  - {name: share_pct, type: percent, unit: percent, doc: "Share of gpu_ns in the sum of all rows; null if that is 0."}
  - {name: op_share_pct, type: percent, unit: percent, doc: "Share of op_count in the sum of all rows."}
  - {name: advice, type: text, doc: "What to do about it; null where nothing is."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - op_count >= 1 AND gpu_ns >= 0 AND op_share_pct BETWEEN 0 AND 100
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
limits: >-
  Counts an operation as attributed whichever range it is in, be it one around the whole program. Reasons that do not
  occur have no row. A graph that was traced as a whole hides its kernels, in a range or not.
see_also: [nvtx_tree, phases, nvtx_gpu_proj_trace]
---*/
WITH
by_reason AS (
  SELECT
    coalesce(unattributed, iif(op_kind = 'graph', 'attributed, graph-level trace', 'attributed')) AS reason,
    unattributed IS NULL AS is_attributed,
    op_kind,
    count(*) AS op_count,
    sum(dur_ns) AS gpu_ns
  FROM nvtx_op
  GROUP BY reason, op_kind
),
ranked AS (
  SELECT *, sum(gpu_ns) OVER (PARTITION BY reason) AS reason_ns
  FROM by_reason
)
SELECT
  is_attributed,
  reason,
  op_kind,
  op_count,
  gpu_ns,
  100.0 * gpu_ns / nullif(sum(gpu_ns) OVER (), 0) AS share_pct,
  100.0 * op_count / sum(op_count) OVER () AS op_share_pct,
  CASE reason
    WHEN 'attributed, graph-level trace' THEN 'kernels are hidden: capture with --cuda-graph-trace=node'
    WHEN 'graph-level trace' THEN 'launched in no range as a whole graph: capture with --cuda-graph-trace=node'
    WHEN 'no API row' THEN 'launched before the capture or its API trace began: capture with -t cuda from the start'
    WHEN 'no open range' THEN 'launched while no range was open: annotate the code around the launches'
    WHEN 'other thread' THEN 'a range was open on another thread of the process: try --attribute process'
  END AS advice,
  (SELECT attribution FROM scope) AS attribution
FROM ranked
ORDER BY is_attributed DESC, reason_ns DESC, reason, gpu_ns DESC, op_kind
