/*---
name: gpu_elapsed
version: 1
title: GPU time without overlap, by operation
summary: The time each kernel, copy and fill adds to the union of GPU work.
why: To split the time in which a GPU worked among its operations, so that the parts add up to it.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [device, graph_trace, kernel, memcpy, memset, scope, string]
requires: [kernel | memcpy | memset | graph_trace]
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
  - {name: op_name, type: text, doc: "Demangled kernel name, [CUDA memcpy Host-to-Device] and its like, [CUDA memset] or [CUDA graph N]."}
checks:
  - calls >= 1
  - elapsed_ns >= 0
  - elapsed_ns <= max(total_ns, 0)
limits: >-
  Time that operations share belongs to the one that began first; of those that began together, to the longest, then to
  the lowest GPU, stream, correlation id, kind and row. So elapsed_ns of an operation tells what it adds to a
  timeline, not how long it ran, and a collective that waits under a kernel may show little. Over all GPUs, work on one
  hides work on another; compare GPUs by their own rows. The kernels of a graph that was traced as a whole are not in
  the report. Under --time elapsed_ns ends where the time does; under --window operations count whole.
see_also: [gpu_time, gpu_share, gpu_span, class_sum]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
op AS (
  SELECT
    'kernel' AS op_kind,
    kernel_id AS op_id,
    name_id AS name_key,
    NULL AS label,
    NULL AS size_bytes,
    start_ns,
    end_ns,
    dur_ns,
    device_id,
    pid,
    stream_id,
    correlation_id
  FROM kernel
  UNION ALL
  SELECT
    'memcpy' AS op_kind,
    memcpy_id AS op_id,
    copy_kind AS name_key,
    '[CUDA memcpy ' || direction || ']' AS label,
    size_bytes,
    start_ns,
    end_ns,
    dur_ns,
    device_id,
    pid,
    stream_id,
    correlation_id
  FROM memcpy
  UNION ALL
  SELECT
    'memset' AS op_kind,
    memset_id AS op_id,
    0 AS name_key,
    '[CUDA memset]' AS label,
    size_bytes,
    start_ns,
    end_ns,
    dur_ns,
    device_id,
    pid,
    stream_id,
    correlation_id
  FROM memset
  UNION ALL
  SELECT
    'graph' AS op_kind,
    graph_trace_id AS op_id,
    coalesce(graph_id, graph_exec_id) AS name_key,
    '[CUDA graph ' || coalesce(graph_id, graph_exec_id, 'of unknown number') || ']' AS label,
    NULL AS size_bytes,
    start_ns,
    end_ns,
    dur_ns,
    device_id,
    pid,
    stream_id,
    correlation_id
  FROM graph_trace
  WHERE :graphs
),
process_gpu AS (
  SELECT device_id, pid, min(gpu_id) AS gpu_id
  FROM device
  GROUP BY device_id, pid
  LIMIT -1
),
-- What reaches over an end of --time is busy up to that end.
placed AS (
  SELECT
    op.*,
    max(op.start_ns, coalesce(scope.start_ns, op.start_ns)) AS from_ns,
    min(op.end_ns, coalesce(scope.end_ns, op.end_ns)) AS to_ns,
    coalesce(process_gpu.gpu_id, op.device_id) AS gpu_id
  FROM op
  JOIN scope
  LEFT JOIN process_gpu
    ON process_gpu.device_id = op.device_id
    AND coalesce(process_gpu.pid, op.pid) = op.pid
),
-- What began earlier has taken the time up to its latest end.
swept AS (
  SELECT
    op_kind,
    name_key,
    label,
    iif(:per_gpu, gpu_id, NULL) AS gpu_id,
    device_id,
    size_bytes,
    dur_ns,
    max(0, to_ns - max(from_ns, coalesce(max(to_ns) OVER earlier, from_ns))) AS elapsed_ns
  FROM placed
  WINDOW earlier AS (
    PARTITION BY iif(:per_gpu, gpu_id, NULL)
    ORDER BY start_ns, dur_ns DESC, gpu_id, stream_id, correlation_id, op_kind, op_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
by_key AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    op_kind,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    sum(elapsed_ns) AS elapsed_ns,
    sum(size_bytes) AS size_bytes,
    CASE op_kind WHEN 'kernel' THEN (SELECT text FROM string WHERE string_id = name_key) ELSE min(label) END AS op_name
  FROM swept
  GROUP BY gpu_id, op_kind, name_key
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
FROM by_key
GROUP BY gpu_id, op_kind, op_name
ORDER BY gpu_id, elapsed_ns DESC, total_ns DESC, op_name, op_kind
