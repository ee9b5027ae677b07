/*---
name: unseen_work
summary: One row per time in which a process waited for its GPU while none of its recorded work was in flight.
stored: true
present_if: [gpu_op, graph_trace]
reads: [all_gpu_op, all_graph_trace, host_function_wait, idle_part]
rows_if: "EXISTS (SELECT 1 FROM idle_part WHERE dur_ns >= 1000000 AND part IN ('queued', 'host sync', 'launch call'))"
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the wait, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the wait."}
  - {name: unseen_ns, type: duration, unit: ns, doc: "Time of the wait in which no recorded work of the process was in flight on any GPU; at least 1 ms."}
  - {name: waits, type: text, doc: "What waited: launched work (on the GPU, behind its stream), or the host in a call that waits."}
  - {name: api_name, type: text, doc: "The call in which the host waited; null for launched work."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
limits: >-
  The GPU waited for something that the report does not show: work from before the trace, records that were lost or sampled,
  or another process. What host_function_wait explains has no row. A wait is a part `queued` of idle_part, or a host sync in a call named
  Synchronize, or the launch call of a copy to the host without Async in its name. Waits for less than 1 ms are latency
  of the driver.
---*/
WITH
wait AS MATERIALIZED (
  SELECT
    gpu_id,
    start_ns,
    end_ns,
    iif(part = 'queued', 'launched work', 'host') AS waits,
    api_name,
    pid,
    global_tid & -16777216 AS global_pid
  FROM idle_part
  WHERE dur_ns >= 1000000
    AND (
      part = 'queued' AND part_id NOT IN (SELECT part_id FROM host_function_wait)
      OR part = 'host sync' AND api_name GLOB '*Synchronize*'
      OR part = 'launch call' AND after_name = '[CUDA memcpy Device-to-Host]'
        AND NOT (api_name GLOB '*Async*')
    )
),
flight AS MATERIALIZED (
  SELECT time_set(global_pid, start_ns, end_ns) AS times
  -- Nothing is read if nothing waited.
  FROM (SELECT 1 FROM wait LIMIT 1)
  CROSS JOIN (
    SELECT global_pid, start_ns, end_ns FROM all_gpu_op
    UNION ALL
    SELECT global_pid, start_ns, end_ns FROM all_graph_trace
  )
  WHERE global_pid IN (SELECT global_pid FROM wait)
),
measured AS (
  SELECT
    wait.*,
    end_ns - start_ns - overlap_ns((SELECT times FROM flight), global_pid, start_ns, end_ns) AS unseen_ns
  FROM wait
)
SELECT gpu_id, start_ns, end_ns, unseen_ns, waits, api_name, pid, global_pid
FROM measured
WHERE unseen_ns >= 1000000
