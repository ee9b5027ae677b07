/*---
name: op_elapsed
summary: One row per GPU operation, with the time that it adds to the busy time of its GPU, or of all.
native: true
native_reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
internal: true
present_if: [kernel, memcpy, memset, graph_trace]
reads: [device, graph_trace, kernel, memcpy, memset, scope]
columns:
  - {name: per_gpu, type: bool, doc: "1 if operations of its GPU count as earlier work, 0 if those of all GPUs do. Filter by one; otherwise the same time is counted twice."}
  - {name: graphs, type: bool, doc: "1 with CUDA graphs traced as a whole, 0 without them. Filter by one."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers; null if per_gpu is 0."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy, memset, or graph for a CUDA graph traced as a whole."}
  - {name: name_id, type: id, doc: "ID of its name within its kind: name_id for a kernel, copy_kind for a copy, 0 for the others."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Duration of the operation."}
  - {name: elapsed_ns, type: duration, unit: ns, doc: "Part in which no operation that started earlier still ran."}
limits: >-
  Overlapped time counts once, for the operation that started first. If several started together, it counts for the
  longest, then for the one with the lowest GPU, stream, kind and row. --time cuts elapsed_ns to the window; under
  --window, operations count whole. Only operations in the scope count.
---*/
WITH
op AS (
  SELECT 'kernel' AS op_kind, kernel_id AS op_id, name_id, pid, device_id, stream_id, start_ns, end_ns
  FROM kernel
  UNION ALL
  SELECT 'memcpy', memcpy_id, copy_kind, pid, device_id, stream_id, start_ns, end_ns
  FROM memcpy
  UNION ALL
  SELECT 'memset', memset_id, 0, pid, device_id, stream_id, start_ns, end_ns
  FROM memset
  UNION ALL
  SELECT 'graph', graph_trace_id, 0, pid, device_id, stream_id, start_ns, end_ns
  FROM graph_trace
),
choice (per_gpu, graphs) AS (
  VALUES (1, 1), (1, 0), (0, 1), (0, 0)
),
-- An operation that crosses an end of --time is busy up to that end.
placed AS (
  SELECT
    choice.per_gpu,
    choice.graphs,
    coalesce(own.gpu_id, shared.gpu_id, op.device_id, 0) AS gpu_id,
    op.stream_id,
    op.op_kind,
    op.op_id,
    op.name_id,
    op.start_ns,
    max(op.end_ns - op.start_ns, 0) AS dur_ns,
    max(op.start_ns, coalesce(scope.start_ns, op.start_ns)) AS from_ns,
    min(max(op.end_ns, op.start_ns), coalesce(scope.end_ns, max(op.end_ns, op.start_ns))) AS to_ns
  FROM op
  CROSS JOIN scope
  JOIN choice
    ON op.op_kind <> 'graph'
    OR choice.graphs
  LEFT JOIN device AS own
    ON own.pid = op.pid
    AND own.device_id = op.device_id
  LEFT JOIN device AS shared
    ON shared.pid IS NULL
    AND shared.device_id = op.device_id
)
-- The time up to the latest end of earlier operations is already counted.
SELECT
  per_gpu,
  graphs,
  iif(per_gpu, gpu_id, NULL) AS gpu_id,
  op_kind,
  name_id,
  op_id,
  dur_ns,
  max(0, to_ns - max(from_ns, coalesce(max(to_ns) OVER earlier, from_ns))) AS elapsed_ns
FROM placed
WINDOW earlier AS (
  PARTITION BY per_gpu, graphs, iif(per_gpu, gpu_id, NULL)
  ORDER BY start_ns, dur_ns DESC, gpu_id, stream_id, op_kind, op_id
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
)
