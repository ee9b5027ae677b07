/*---
name: launch_outcome
summary: One row per thread and reason why its launches have no GPU work in the report.
stored: true
present_if: [src_cuda_api]
reads:
  - all_call_without_work
  - all_cuda_call
  - src_cuda_graph_trace
  - src_cuda_kernel
  - string
  - suspect_event
rows_if: "EXISTS (SELECT 1 FROM (SELECT string_id FROM string WHERE text GLOB '*Launch*' AND NOT (text GLOB '*HostFunc*')) AS function CROSS JOIN all_call_without_work AS call WHERE call.name_id = function.string_id)"
columns:
  - {name: outcome, type: text, doc: "Why: failed (the call returned an error), captured (into a CUDA graph, which runs it later), unlinked (its operation has no correlation ID), queued (not run when the capture ended), or lost."}
  - {name: is_graph, type: bool, doc: "1 for launches of CUDA graphs, 0 for launches of kernels."}
  - {name: launch_count, type: int, unit: count, doc: "Launches of the thread with this outcome."}
  - {name: all_count, type: int, unit: count, doc: "All launches of the thread by the functions of these, such as cudaLaunchKernel."}
  - {name: return_value, type: int, doc: "The error of launches that failed, one row for each; null for other outcomes."}
  - {name: first_start_ns, type: timestamp, unit: ns, doc: "Start of the first of these launches, on the report's clock."}
  - {name: last_start_ns, type: timestamp, unit: ns, doc: "Start of the last of these launches."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Launches are calls of cudaLaunchKernel, cuLaunchKernel, hipLaunchKernel, their variants, and of cudaGraphLaunch and
  similar calls. A runtime call and the driver call inside it are one. Captured: launched while a stream of the process was
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
idle AS MATERIALIZED (
  SELECT
    call.call_id,
    call.name_id,
    call.start_ns,
    call.correlation_id,
    call.call_count,
    call.last_work_ns,
    call.global_tid & -16777216 AS global_pid,
    call.global_tid,
    function.does
  FROM function
  CROSS JOIN all_call_without_work AS call
  WHERE call.name_id = function.name_id
),
-- A launch whose operation has impossible times, or is a graph traced as a whole, has work. The runtime call and the
-- driver call inside it are one launch.
launch AS MATERIALIZED (
  SELECT idle.*, min(idle.start_ns) AS first_ns
  FROM idle
  LEFT JOIN suspect_event AS suspect
    ON suspect.global_pid = idle.global_pid
    AND suspect.correlation_id = idle.correlation_id
    AND suspect.event_kind <> 'call'
  LEFT JOIN src_cuda_graph_trace AS graph
    ON graph.globalPid = idle.global_pid
    AND graph.correlationId = idle.correlation_id
  WHERE idle.does IN ('kernel', 'graph')
    AND suspect.row_id IS NULL
    AND graph.globalPid IS NULL
  GROUP BY idle.global_tid, iif(idle.correlation_id <> 0, idle.correlation_id, -idle.call_id)
),
-- How many streams are being captured at each launch.
depth AS MATERIALIZED (
  SELECT
    call_id,
    sum(CASE does WHEN 'begin' THEN 1 WHEN 'end' THEN -1 ELSE 0 END) OVER (
      PARTITION BY global_pid
      ORDER BY start_ns, call_id
    ) AS captures
  FROM idle
  WHERE does <> 'sync'
    AND EXISTS (SELECT 1 FROM idle WHERE does = 'begin')
),
synced AS MATERIALIZED (
  SELECT global_pid, max(start_ns) AS last_ns
  FROM idle
  WHERE does = 'sync'
  GROUP BY global_pid
),
told AS MATERIALIZED (
  SELECT
    launch.*,
    launch.does = 'graph' AS is_graph,
    call.return_value,
    CASE
      WHEN coalesce(call.return_value, 0) <> 0 THEN 'failed'
      WHEN depth.captures > 0 THEN 'captured'
      WHEN launch.start_ns > max(launch.last_work_ns, coalesce(synced.last_ns, launch.last_work_ns)) THEN 'queued'
      ELSE 'lost'
    END AS outcome
  FROM launch
  JOIN all_cuda_call AS call
    ON call.call_id = launch.call_id
  LEFT JOIN depth
    ON depth.call_id = launch.call_id
  LEFT JOIN synced
    ON synced.global_pid = launch.global_pid
),
-- Kernels that name no call. As many launches lost their link, and not their work.
unlinked AS MATERIALIZED (
  SELECT globalPid AS global_pid, count(*) AS ops
  -- Kernels are not read if no launch is without work.
  FROM (SELECT 1 FROM told WHERE outcome IN ('lost', 'queued') LIMIT 1)
  CROSS JOIN src_cuda_kernel
  WHERE coalesce(correlationId, 0) = 0
    OR globalPid IS NULL
  GROUP BY globalPid
),
named AS MATERIALIZED (
  SELECT global_tid, is_graph, sum(call_count) AS all_count
  FROM (SELECT DISTINCT global_tid, is_graph, name_id, call_count FROM told)
  GROUP BY global_tid, is_graph
),
counted AS MATERIALIZED (
  SELECT
    outcome,
    is_graph,
    return_value,
    count(*) AS launch_count,
    sum(iif(outcome IN ('lost', 'queued'), count(*), 0)) OVER (PARTITION BY global_pid) AS lost_count,
    min(start_ns) AS first_start_ns,
    max(start_ns) AS last_start_ns,
    global_pid,
    global_tid
  FROM told
  GROUP BY global_tid, is_graph, outcome, iif(outcome = 'failed', return_value, NULL)
)
SELECT
  iif(
    outcome IN ('lost', 'queued')
    AND lost_count <= coalesce((
      SELECT sum(ops)
      FROM unlinked
      WHERE unlinked.global_pid = counted.global_pid
        OR unlinked.global_pid IS NULL
    ), 0),
    'unlinked',
    outcome
  ) AS outcome,
  counted.is_graph,
  launch_count,
  named.all_count,
  iif(outcome = 'failed', return_value, NULL) AS return_value,
  first_start_ns,
  last_start_ns,
  counted.global_tid >> 24 & 16777215 AS pid,
  counted.global_tid & 16777215 AS tid,
  global_pid,
  counted.global_tid
FROM counted
JOIN named
  ON named.global_tid = counted.global_tid
  AND named.is_graph = counted.is_graph
