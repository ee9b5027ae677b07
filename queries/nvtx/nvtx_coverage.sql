/*---
name: nvtx_coverage
version: 2
title: GPU work inside and outside NVTX ranges
summary: GPU work inside and outside NVTX ranges, and why work is outside.
why: To know how complete figures per range are, and how to make them complete.
kind: sum
tags: [capture, cuda, nvtx]
reads: [import_count, launch_link, launch_outcome, nvtx_op, scope]
requires: [nvtx_op]
columns:
  - {name: is_attributed, type: bool, label: "in a range", doc: "1 if the work is in an NVTX range."}
  - {name: reason, type: text, priority: 0, doc: "attributed; attributed, graph-level trace; or why the work is in no range: no API row, no open range, other thread, graph-level trace."}
  - {name: op_kind, type: text, label: "operation", priority: 0, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "GPU operations of this kind and reason."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of their durations; overlapping operations count in full."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the sum of all rows; null if the sum is 0."}
  - {name: op_share_pct, type: percent, unit: percent, label: "share of operations", priority: 1, doc: "op_count as a share of the sum of all rows."}
  - {name: advice, type: text, priority: 1, doc: "What to do about it, for the tool that recorded the report; null if nothing is needed."}
  - {name: link, type: text, priority: 2, doc: "How the operations were linked to their launches: correlation ID; External id, flow or time and order (a guess) in traces without it; null without a launch."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - op_count >= 1 AND gpu_ns >= 0 AND op_share_pct BETWEEN 0 AND 100
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
when_empty: "no GPU operation was recorded"
limits: >-
  An operation counts as attributed in any range, even in one around the whole program. Reasons without operations have
  no row. The kernels of a CUDA graph traced as a whole are not recorded, whether the graph is in a range or not.
see_also: [nvtx_tree, phases, nvtx_gpu_proj_trace]
---*/
WITH
-- Only a report made from a PyTorch trace has these rows.
source AS (
  SELECT
    EXISTS (SELECT 1 FROM import_count) AS is_torch,
    EXISTS (SELECT 1 FROM launch_outcome WHERE outcome = 'unlinked') AS lost_links
),
linked AS MATERIALIZED (
  SELECT op_kind, op_id, rule
  FROM launch_link
),
by_reason AS (
  SELECT
    coalesce(unattributed, iif(op_kind = 'graph', 'attributed, graph-level trace', 'attributed')) AS reason,
    unattributed IS NULL AS is_attributed,
    op_kind,
    iif(
      call_id IS NULL,
      NULL,
      coalesce(
        (
          SELECT rule
          FROM linked
          WHERE linked.op_kind = nvtx_op.op_kind
            AND linked.op_id = nvtx_op.op_id
        ),
        'correlation ID'
      )
    ) AS link,
    count(*) AS op_count,
    sum(dur_ns) AS gpu_ns
  FROM nvtx_op
  GROUP BY reason, op_kind, link
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
  CASE
    WHEN link GLOB '*guess*' THEN 'the recorder lost the link to the launch: linked by time and order, which is a guess'
    WHEN reason = 'attributed, graph-level trace' THEN 'kernels are hidden: capture with --cuda-graph-trace=node'
    WHEN reason = 'graph-level trace' THEN 'launched in no range as a whole graph: capture with --cuda-graph-trace=node'
    WHEN reason = 'no API row' THEN
      CASE
        WHEN source.lost_links THEN 'the recorder lost the link to the launch: the operations have no correlation ID'
        WHEN source.is_torch
          THEN 'launched before the trace began, or its call was not recorded: start the profiler a step earlier'
        ELSE 'launched before the capture or its API trace began: capture with -t cuda from the start'
      END
    WHEN reason = 'no open range' THEN
      iif(
        source.is_torch,
        'launched outside operators and record_function: put record_function around the launches',
        'launched while no range was open: annotate the code around the launches'
      )
    WHEN reason = 'other thread' THEN 'a range was open on another thread of the process: try --attribute process'
  END AS advice,
  link,
  (SELECT attribution FROM scope) AS attribution
FROM ranked
CROSS JOIN source
ORDER BY is_attributed DESC, reason_ns DESC, reason, gpu_ns DESC, op_kind, link
