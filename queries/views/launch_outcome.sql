/*---
name: launch_outcome
summary: One row per thread and reason why its launches have no GPU work in the report.
stored: true
present_if: [src_cuda_api]
reads:
  - all_cuda_call
  - src_cuda_graph_trace
  - src_cuda_kernel
  - src_cuda_memcpy
  - src_cuda_memset
  - string
columns:
  - {name: outcome, type: text, doc: "Why: failed (the call returned an error), captured (into a CUDA graph, which runs it later), unlinked (its operation has no correlation ID), queued (not run when the capture ended), or lost."}
  - {name: is_graph, type: bool, doc: "1 for launches of CUDA graphs, 0 for launches of kernels."}
  - {name: launch_count, type: int, unit: count, doc: "Launches of the thread with this outcome."}
  - {name: all_count, type: int, unit: count, doc: "All launches of the thread, of graphs or of kernels as is_graph says."}
  - {name: return_value, type: int, doc: "Most frequent error of the launches that failed; null for other outcomes."}
  - {name: first_start_ns, type: timestamp, unit: ns, doc: "Start of the first such launch, on the report's clock."}
  - {name: last_start_ns, type: timestamp, unit: ns, doc: "Start of the last such launch."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Launches are calls of cudaLaunchKernel, cuLaunchKernel, hipLaunchKernel, their variants, and of cudaGraphLaunch and its
  like. A runtime call and the driver call inside it are one. Captured: launched while a stream of the process was
  captured (cudaStreamBeginCapture to cudaStreamEndCapture). Queued: after the last launch of the process whose work is in
  the report, and with no synchronisation of the process after it. Copies and fills are left out, because some need no
  operation. Threads whose launches all have GPU work have no row. Whole capture: no scope option acts on it.
---*/
WITH
function AS MATERIALIZED (
  SELECT
    string_id AS name_id,
    CASE
      WHEN text GLOB '*StreamBeginCapture*' THEN 'begin'
      WHEN text GLOB '*StreamEndCapture*' THEN 'end'
      WHEN text GLOB '*Synchronize*' THEN 'sync'
      WHEN text GLOB '*GraphLaunch*' THEN 'graph'
      ELSE 'kernel'
    END AS does
  FROM string
  WHERE (text GLOB 'cu*' OR text GLOB 'hip*')
    AND NOT (text GLOB '*[( ]*')
    AND (
      text GLOB '*Launch*' AND NOT (text GLOB '*HostFunc*')
      OR text GLOB '*StreamBeginCapture*'
      OR text GLOB '*StreamEndCapture*'
      OR text GLOB '*Synchronize*'
    )
),
launching AS MATERIALIZED (
  SELECT name_id
  FROM function
  WHERE does IN ('kernel', 'graph')
),
-- Counts are quick, and most processes have as much work as launches.
launched AS (
  SELECT
    global_pid,
    count(*) AS calls,
    max(coalesce(return_value, 0) <> 0) AS has_failed
  FROM all_cuda_call
  WHERE name_id IN (SELECT name_id FROM launching)
  GROUP BY global_pid
),
ran AS (
  SELECT globalPid AS global_pid, count(*) AS kernels, count(nullif(graphNodeId, 0)) AS nodes
  FROM src_cuda_kernel
  GROUP BY globalPid
),
short AS MATERIALIZED (
  SELECT launched.global_pid
  FROM launched
  LEFT JOIN ran
    ON ran.global_pid = launched.global_pid
  WHERE has_failed
    OR coalesce(ran.nodes, 0) > 0
    OR launched.calls > coalesce(ran.kernels, 0)
),
work AS MATERIALIZED (
  SELECT globalPid AS global_pid, correlationId AS correlation_id
  FROM src_cuda_kernel
  WHERE EXISTS (SELECT 1 FROM short)
  UNION
  SELECT globalPid, correlationId
  FROM src_cuda_graph_trace
  WHERE EXISTS (SELECT 1 FROM short)
  UNION
  SELECT globalPid, correlationId
  FROM src_cuda_memcpy
  WHERE nullif(graphNodeId, 0) IS NOT NULL
    AND EXISTS (SELECT 1 FROM short)
  UNION
  SELECT globalPid, correlationId
  FROM src_cuda_memset
  WHERE nullif(graphNodeId, 0) IS NOT NULL
    AND EXISTS (SELECT 1 FROM short)
),
unlinked AS MATERIALIZED (
  SELECT globalPid AS global_pid, count(*) AS ops
  FROM src_cuda_kernel
  WHERE coalesce(correlationId, 0) = 0
    OR globalPid IS NULL
  GROUP BY globalPid
),
call AS MATERIALIZED (
  SELECT
    call.call_id,
    call.start_ns,
    call.end_ns,
    call.return_value,
    call.correlation_id,
    call.pid,
    call.tid,
    call.global_pid,
    call.global_tid,
    function.does
  FROM short
  JOIN all_cuda_call AS call
    ON call.global_pid = short.global_pid
  JOIN function
    ON function.name_id = call.name_id
),
-- The runtime call and the driver call inside it have one correlation ID.
launch AS MATERIALIZED (
  SELECT
    *,
    EXISTS (
      SELECT 1
      FROM work
      WHERE work.global_pid = call.global_pid
        AND work.correlation_id = call.correlation_id
    ) AS has_work
  FROM call
  WHERE does IN ('kernel', 'graph')
  GROUP BY global_tid, iif(correlation_id <> 0, correlation_id, -call_id)
  HAVING start_ns = min(start_ns)
),
-- How many streams are being captured at each launch.
depth AS MATERIALIZED (
  SELECT
    call_id,
    sum(CASE does WHEN 'begin' THEN 1 WHEN 'end' THEN -1 ELSE 0 END) OVER (
      PARTITION BY global_pid
      ORDER BY start_ns, call_id
    ) AS captures
  FROM call
  WHERE does <> 'sync'
    AND EXISTS (SELECT 1 FROM call WHERE does = 'begin')
),
last AS MATERIALIZED (
  SELECT
    global_pid,
    max(iif(has_work, start_ns, NULL)) AS work_ns,
    (
      SELECT max(call.start_ns)
      FROM call
      WHERE call.does = 'sync'
        AND call.global_pid = launch.global_pid
    ) AS sync_ns
  FROM launch
  GROUP BY global_pid
),
told AS (
  SELECT
    launch.*,
    launch.does = 'graph' AS is_graph,
    CASE
      WHEN has_work THEN 'ran'
      WHEN coalesce(return_value, 0) <> 0 THEN 'failed'
      WHEN (SELECT captures FROM depth WHERE depth.call_id = launch.call_id) > 0 THEN 'captured'
      WHEN launch.start_ns > max(last.work_ns, coalesce(last.sync_ns, last.work_ns)) THEN 'queued'
      ELSE 'lost'
    END AS outcome
  FROM launch
  JOIN last
    ON last.global_pid IS launch.global_pid
),
counted AS (
  SELECT
    outcome,
    is_graph,
    count(*) AS launch_count,
    sum(count(*)) OVER (PARTITION BY global_tid, is_graph) AS all_count,
    sum(iif(outcome = 'lost', count(*), 0)) OVER (PARTITION BY global_pid) AS lost_count,
    min(start_ns) AS first_start_ns,
    max(start_ns) AS last_start_ns,
    pid,
    tid,
    global_pid,
    global_tid
  FROM told
  GROUP BY global_tid, is_graph, outcome
)
SELECT
  CASE
    WHEN outcome <> 'lost' THEN outcome
    WHEN lost_count <= (
      SELECT sum(ops)
      FROM unlinked
      WHERE unlinked.global_pid = counted.global_pid
        OR unlinked.global_pid IS NULL
    )
      THEN 'unlinked'
    ELSE outcome
  END AS outcome,
  is_graph,
  launch_count,
  all_count,
  CASE
    WHEN outcome = 'failed' THEN (
      SELECT return_value
      FROM told
      WHERE told.outcome = 'failed'
        AND told.global_tid = counted.global_tid
        AND told.is_graph = counted.is_graph
      GROUP BY return_value
      ORDER BY count(*) DESC, return_value
      LIMIT 1
    )
  END AS return_value,
  first_start_ns,
  last_start_ns,
  pid,
  tid,
  global_pid,
  global_tid
FROM counted
WHERE outcome <> 'ran'
