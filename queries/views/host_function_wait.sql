/*---
name: host_function_wait
summary: One row per time in which a GPU idled because a stream or a graph ran a function of the host.
internal: true
stored: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_gpu_op, all_kernel, all_memcpy, all_memset, idle_part, launch, string]
rows_if: "EXISTS (SELECT 1 FROM idle_part WHERE part = 'queued' AND dur_ns >= 20000)"
columns:
  - {name: part_id, type: id, doc: "Interval of idle_part, of the part queued and of 20 µs or more."}
  - {name: waits_for, type: text, doc: "host function (of a call such as cudaLaunchHostFunc between the two launches), or graph node (both operations belong to one launch of a graph)."}
limits: >-
  The report does not show what the node between the two is: a function of the host, or an allocation.
  Functions of the host are found by their calls, of the thread that launched both operations.
---*/
WITH
wait AS MATERIALIZED (
  SELECT part_id, start_ns, end_ns, before_kind, before_id, after_kind, after_id, global_tid
  FROM idle_part
  WHERE part = 'queued'
    AND dur_ns >= 20000
    AND before_id IS NOT NULL
    AND after_id IS NOT NULL
),
side AS (
  SELECT part_id, 0 AS is_after, before_kind AS op_kind, before_id AS op_id
  FROM wait
  UNION ALL
  SELECT part_id, 1, after_kind, after_id
  FROM wait
),
-- The graph launch of each side.
node AS (
  SELECT
    part_id,
    is_after,
    CASE op_kind
      WHEN 'kernel'
        THEN (SELECT iif(graph_node_id > 0, correlation_id, 0) FROM all_kernel WHERE kernel_id = op_id)
      WHEN 'memcpy'
        THEN (SELECT iif(graph_node_id > 0, correlation_id, 0) FROM all_memcpy WHERE memcpy_id = op_id)
      WHEN 'memset'
        THEN (SELECT iif(graph_node_id > 0, correlation_id, 0) FROM all_memset WHERE memset_id = op_id)
    END AS correlation_id
  FROM side
),
in_graph AS MATERIALIZED (
  SELECT part_id
  FROM node
  WHERE correlation_id > 0
  GROUP BY part_id
  HAVING count(*) = 2
    AND min(correlation_id) = max(correlation_id)
),
-- Nodes on other GPUs may be what it waits for.
flight AS MATERIALIZED (
  SELECT time_set(global_pid, start_ns, end_ns) AS times
  FROM (SELECT 1 FROM in_graph LIMIT 1)
  CROSS JOIN all_gpu_op
),
function AS MATERIALIZED (
  SELECT call.global_tid, call.start_ns
  FROM (SELECT 1 FROM wait LIMIT 1)
  CROSS JOIN all_cuda_call AS call
  WHERE call.name_id IN (
      SELECT string_id
      FROM string
      WHERE text GLOB 'cu*LaunchHostFunc*'
        OR text GLOB 'cu*StreamAddCallback*'
        OR text GLOB 'hipLaunchHostFunc*'
        OR text GLOB 'hipStreamAddCallback*'
    )
),
launched AS (
  SELECT
    wait.part_id,
    wait.global_tid,
    before.call_end_ns AS from_ns,
    after.call_start_ns AS to_ns
  FROM (SELECT 1 FROM function LIMIT 1)
  CROSS JOIN wait
  JOIN launch AS before
    ON before.op_kind = wait.before_kind
    AND before.op_id = wait.before_id
    AND before.global_tid = wait.global_tid
  JOIN launch AS after
    ON after.op_kind = wait.after_kind
    AND after.op_id = wait.after_id
)
SELECT wait.part_id, 'graph node' AS waits_for
FROM in_graph
JOIN wait
  ON wait.part_id = in_graph.part_id
WHERE overlap_ns((SELECT times FROM flight), wait.global_tid & -16777216, wait.start_ns, wait.end_ns) = 0
UNION ALL
SELECT part_id, 'host function'
FROM launched
WHERE EXISTS (
    SELECT 1
    FROM function
    WHERE function.global_tid = launched.global_tid
      AND function.start_ns BETWEEN launched.from_ns AND launched.to_ns
  )
