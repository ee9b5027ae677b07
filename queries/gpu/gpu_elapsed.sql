/*---
name: gpu_elapsed
version: 3
title: GPU time without overlap, by operation
summary: Time that each kernel, copy and fill adds to the busy time of its GPU.
why: To split the busy time of a GPU among its operations, so that the parts add up to it.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [gpu_overlap, gpu_window, graph_trace, memcpy, memset, scope]
requires: [gpu_overlap]
params:
  - {name: per_gpu, type: bool, default: true, doc: "true treats each GPU by itself; false takes the time in which any GPU was busy."}
  - {name: several_gpus, type: bool, default: false, doc: "Return no rows unless several GPUs worked: the rows of a single GPU are those of per_gpu=false."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs traced as a whole; false leaves them out."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers; null over all GPUs."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes; null over all GPUs."}
  - {name: class, type: text, priority: 0, doc: "Class of op_name from the class map; cuda_graph for a CUDA graph traced as a whole."}
  - {name: op_kind, type: text, label: "kind", priority: 3, doc: "Kind of operation: kernel, memcpy, memset or graph."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times. Operations that overlap, or that cross an end of --time, count in full."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Part of the execution time in which no operation that started earlier still ran."}
  - {name: busy_pct, type: percent, unit: percent, label: "share of busy time", priority: 1, doc: "elapsed_ns as a share of the time in which the GPU was busy, or any GPU with per_gpu=false."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for a kernel or a graph."}
  - {name: class_rule, type: text, label: "rule", priority: 3, doc: "Rule of the class map that decided; null if no rule did."}
  - {name: class_also, type: text, label: "other matches", priority: 3, doc: "Other classes, from later rules that match too; null if there are none."}
  - {name: class_others, type: text, label: "other classes", priority: 3, doc: "The classes of class_also without their rules, and without rules that match every name; null if there are none."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "Demangled kernel name, a name such as [CUDA memcpy Host-to-Device], [CUDA memset] or [CUDA graph N]; (no name) if the export has no name."}
checks:
  - calls >= 1
  - elapsed_ns >= 0
  - elapsed_ns <= total_ns
when_empty: "no GPU operation was recorded"
limits: >-
  Overlapped time is counted once, for the operation that started first. If several started together, it counts for the
  longest, then for the one with the lowest GPU, stream, kind and row. So elapsed_ns is what an operation adds to a
  timeline, not how long it ran: a collective that waits under a kernel may show little. With per_gpu=false, work on one
  GPU hides work on another; compare GPUs by their own rows. The report does not record the kernels of a CUDA graph
  traced as a whole; the graph has the class cuda_graph, whatever the class map. --time cuts elapsed_ns to the window;
  under --window, operations count whole.
see_also: [gpu_time, gpu_share, gpu_span, class_sum]
---*/
WITH
-- An operation that crosses an end of --time is busy up to that end.
op AS (
  SELECT
    overlap.op_kind,
    overlap.op_id,
    overlap.name_id,
    overlap.gpu_id,
    overlap.stream_id,
    overlap.start_ns,
    overlap.dur_ns,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  WHERE (:graphs OR overlap.op_kind <> 'graph')
    AND (NOT :several_gpus OR (SELECT count(*) FROM gpu_window) > 1)
),
-- The time up to the latest end of earlier operations is already counted.
swept AS (
  SELECT
    iif(:per_gpu, gpu_id, NULL) AS gpu_id,
    op_kind,
    op_id,
    iif(op_kind = 'graph', NULL, name_id) AS name_id,
    dur_ns,
    max(0, to_ns - max(from_ns, coalesce(max(to_ns) OVER earlier, from_ns))) AS elapsed_ns
  FROM op
  WINDOW earlier AS (
    PARTITION BY iif(:per_gpu, gpu_id, NULL)
    ORDER BY start_ns, dur_ns DESC, gpu_id, stream_id, op_kind, op_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
by_name AS (
  SELECT
    swept.gpu_id,
    swept.op_kind,
    coalesce(graph_trace.graph_id, graph_trace.graph_exec_id) AS graph_number,
    count(*) AS calls,
    sum(swept.dur_ns) AS total_ns,
    sum(swept.elapsed_ns) AS elapsed_ns,
    sum(
      CASE swept.op_kind
        WHEN 'memcpy' THEN (SELECT size_bytes FROM memcpy WHERE memcpy_id = swept.op_id)
        WHEN 'memset' THEN (SELECT size_bytes FROM memset WHERE memset_id = swept.op_id)
      END
    ) AS size_bytes,
    min(swept.op_id) AS any_op_id
  FROM swept
  LEFT JOIN graph_trace
    ON swept.op_kind = 'graph'
    AND graph_trace.graph_trace_id = swept.op_id
  GROUP BY swept.gpu_id, swept.op_kind, swept.name_id, graph_number
),
named AS MATERIALIZED (
  SELECT
    *,
    CASE op_kind
      WHEN 'graph' THEN '[CUDA graph ' || coalesce(graph_number, 'of unknown number') || ']'
      ELSE (
        SELECT op_name
        FROM gpu_overlap
        WHERE gpu_overlap.op_kind = by_name.op_kind
          AND gpu_overlap.op_id = by_name.any_op_id
      )
    END AS op_name
  FROM by_name
)
SELECT
  gpu_id,
  (SELECT device_id FROM gpu_window WHERE gpu_window.gpu_id = named.gpu_id) AS device_id,
  CASE op_kind WHEN 'graph' THEN 'cuda_graph' ELSE op_class(op_name) END AS class,
  op_kind,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(elapsed_ns) AS elapsed_ns,
  100.0 * sum(elapsed_ns) / nullif(sum(sum(elapsed_ns)) OVER (PARTITION BY gpu_id), 0) AS busy_pct,
  sum(size_bytes) AS size_bytes,
  CASE op_kind WHEN 'graph' THEN NULL ELSE op_class_rule(op_name) END AS class_rule,
  CASE op_kind WHEN 'graph' THEN NULL ELSE op_class_also(op_name) END AS class_also,
  CASE op_kind WHEN 'graph' THEN NULL ELSE op_class_others(op_name) END AS class_others,
  op_name
FROM named
GROUP BY gpu_id, op_kind, op_name
ORDER BY gpu_id, elapsed_ns DESC, total_ns DESC, op_name, op_kind
