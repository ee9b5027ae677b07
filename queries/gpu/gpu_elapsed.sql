/*---
name: gpu_elapsed
version: 1
title: GPU time without overlap, by operation
summary: The time each kernel, copy and fill adds to the union of GPU work.
why: To split the time in which a GPU worked among its operations, so that the parts add up to it.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [gpu_overlap, graph_trace, memcpy, memset, scope]
requires: [gpu_overlap]
params:
  - {name: per_gpu, type: bool, default: true, doc: "Each GPU by itself; false takes the union over all GPUs."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs that were traced as wholes; false leaves them out."}
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine, or its CUDA ordinal where the export knows no better; null over all GPUs."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU in a process that used it, the lowest; null over all GPUs."}
  - {name: class, type: text, doc: "Class of op_name by the class map, or cuda_graph for a graph that was traced as a whole."}
  - {name: op_kind, type: text, doc: "kernel, memcpy, memset or graph."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; operations that overlap, or reach over an end of --time, count in full."}
  - {name: elapsed_ns, type: duration, unit: ns, doc: "Time in which no operation that began earlier still ran."}
  - {name: busy_pct, type: percent, unit: percent, doc: "Share of elapsed_ns in the time that the GPU, or any GPU, was busy."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for a kernel or a graph."}
  - {name: class_rule, type: text, doc: "The rule of the class map that decided; null where none did."}
  - {name: class_also, type: text, doc: "Classes that later rules would have chosen; null if none."}
  - {name: op_name, type: text, doc: "Demangled kernel name, [CUDA memcpy Host-to-Device] and its like, [CUDA memset] or [CUDA graph N]; (no name) where the export has none."}
checks:
  - calls >= 1
  - elapsed_ns >= 0
  - elapsed_ns <= total_ns
limits: >-
  Time that operations share belongs to the one that began first; of those that began together, to the longest, then to
  the lowest GPU, stream, kind and row. So elapsed_ns of an operation tells what it adds to a timeline, not how long it
  ran, and a collective that waits under a kernel may show little. Over all GPUs, work on one
  hides work on another; compare GPUs by their own rows. The kernels of a graph that was traced as a whole are not in
  the report: it is of the class cuda_graph, whatever the map. Under --time elapsed_ns ends where the time does; under
  --window operations count whole.
see_also: [gpu_time, gpu_share, gpu_span, class_sum]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
-- What reaches over an end of --time is busy up to that end.
placed AS (
  SELECT
    overlap.gpu_id,
    overlap.device_id,
    overlap.stream_id,
    overlap.op_kind,
    overlap.op_id,
    overlap.name_id,
    overlap.start_ns,
    overlap.dur_ns,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  WHERE overlap.op_kind <> 'graph' OR :graphs
),
-- What began earlier has taken the time up to its latest end.
swept AS (
  SELECT
    iif(:per_gpu, gpu_id, NULL) AS gpu_id,
    device_id,
    op_kind,
    op_id,
    name_id,
    dur_ns,
    max(0, to_ns - max(from_ns, coalesce(max(to_ns) OVER earlier, from_ns))) AS elapsed_ns
  FROM placed
  WINDOW earlier AS (
    PARTITION BY iif(:per_gpu, gpu_id, NULL)
    ORDER BY start_ns, dur_ns DESC, gpu_id, stream_id, op_kind, op_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
by_name AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    op_kind,
    graph_number,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    sum(elapsed_ns) AS elapsed_ns,
    sum(
      CASE op_kind
        WHEN 'memcpy' THEN (SELECT size_bytes FROM memcpy WHERE memcpy_id = op_id)
        WHEN 'memset' THEN (SELECT size_bytes FROM memset WHERE memset_id = op_id)
      END
    ) AS size_bytes,
    min(op_id) AS any_op_id
  FROM (
    SELECT
      *,
      CASE op_kind
        WHEN 'graph' THEN (SELECT coalesce(graph_id, graph_exec_id) FROM graph_trace WHERE graph_trace_id = op_id)
      END AS graph_number
    FROM swept
  )
  GROUP BY gpu_id, op_kind, name_id, graph_number
),
named AS (
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
  LIMIT -1
)
SELECT
  gpu_id,
  iif(:per_gpu, min(min(device_id)) OVER (PARTITION BY gpu_id), NULL) AS device_id,
  CASE op_kind WHEN 'graph' THEN 'cuda_graph' ELSE op_class(op_name) END AS class,
  op_kind,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(elapsed_ns) AS elapsed_ns,
  100.0 * sum(elapsed_ns) / nullif(sum(sum(elapsed_ns)) OVER (PARTITION BY gpu_id), 0) AS busy_pct,
  sum(size_bytes) AS size_bytes,
  CASE op_kind WHEN 'graph' THEN NULL ELSE op_class_rule(op_name) END AS class_rule,
  CASE op_kind WHEN 'graph' THEN NULL ELSE op_class_also(op_name) END AS class_also,
  op_name
FROM named
GROUP BY gpu_id, op_kind, op_name
ORDER BY gpu_id, elapsed_ns DESC, total_ns DESC, op_name, op_kind
