/*---
name: what_bounds
version: 2
title: What bounds each step
summary: One row per step and GPU, with the parts of the chain that binds it.
why: To see what a step would have to do without to be shorter. Time that overlaps other work is not in it.
kind: sum
tags: [cuda, gpu, latency]
reads: [all_critical_part, gpu_window, step_window]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: step, type: int, priority: 0, doc: "Number of the step, from 0 per thread; null for the whole report, if it has no steps."}
  - {name: bound, type: text, priority: 0, doc: "The largest of the parts: host, launch, compute, communication, memory, waiting or unexplained."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time of the step on the GPU, as in steps: the sum of the parts."}
  - {name: host_ns, type: duration, unit: ns, label: "host", priority: 1, doc: "Host code, and calls that do not launch."}
  - {name: launch_ns, type: duration, unit: ns, label: "launch", priority: 1, doc: "Launching calls, and the time from a call to its operation."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Compute kernels."}
  - {name: communication_ns, type: duration, unit: ns, label: "communication", priority: 1, doc: "Communication kernels. If their other members are in the report, only the time after the last one has started."}
  - {name: memory_ns, type: duration, unit: ns, label: "memory", priority: 1, doc: "Copies and fills."}
  - {name: waiting_ns, type: duration, unit: ns, label: "waiting", priority: 2, doc: "From an operation to the next one that was launched in time, and to the return of a call that waits for it."}
  - {name: unexplained_ns, type: duration, unit: ns, label: "unexplained", priority: 1, doc: "Delay that nothing recorded explains, with the time before the first recorded call and after the last operation of the window."}
  - {name: unexplained_pct, type: percent, unit: percent, label: "unexplained share of time", priority: 1, doc: "unexplained_ns as a share of dur_ns."}
  - {name: start_ns, type: timestamp, unit: ns, label: "start", priority: 2, doc: "Start of the step on the GPU, on the report's clock."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null for the whole report."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID; null for the whole report, or if launches were not recorded."}
checks:
  - dur_ns = host_ns + launch_ns + compute_ns + communication_ns + memory_ns + waiting_ns + unexplained_ns
when_empty: "no GPU operation was recorded"
limits: >-
  See the relation critical_part. Host code includes waits for other threads, locks and files. A GPU can be bound by work of another
  GPU or process: then the parts are theirs.
see_also: [critical_path, what_if, steps]
---*/
WITH
-- Warm-up steps are steps, too.
stepped AS MATERIALIZED (
  SELECT gpu_id, step, start_ns, end_ns, pid, tid
  FROM step_window
  WHERE dur_ns > 0
),
win AS MATERIALIZED (
  SELECT *
  FROM stepped
  UNION ALL
  SELECT gpu_id, NULL, start_ns, end_ns, NULL, NULL
  FROM gpu_window
  WHERE gpu_id NOT IN (SELECT gpu_id FROM stepped)
    AND window_ns > 0
),
numbered AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY gpu_id, pid, tid, step, start_ns, end_ns) AS number
  FROM win
),
-- Many parts of few kinds: GROUP BY would sort them.
summed AS MATERIALIZED (
  SELECT v0 AS number, v1 AS part, v3 AS dur_ns
  FROM json_rows(
    (
      SELECT sums_by(part.dur_ns, numbered.number, part.part)
      FROM numbered
      CROSS JOIN all_critical_part AS part
      WHERE part.edits = ''
        AND part.gpu_id = numbered.gpu_id
        AND part.start_ns = numbered.start_ns
        AND part.end_ns = numbered.end_ns
    )
  )
),
bound AS (
  SELECT
    numbered.gpu_id,
    numbered.step,
    numbered.start_ns,
    numbered.pid,
    numbered.tid,
    sum(summed.dur_ns) AS dur_ns,
    sum(iif(summed.part IN ('host code', 'allocation call', 'other call'), summed.dur_ns, 0)) AS host_ns,
    sum(iif(summed.part IN ('launch call', 'launch latency'), summed.dur_ns, 0)) AS launch_ns,
    sum(iif(summed.part = 'compute', summed.dur_ns, 0)) AS compute_ns,
    sum(iif(summed.part = 'communication', summed.dur_ns, 0)) AS communication_ns,
    sum(iif(summed.part = 'memory', summed.dur_ns, 0)) AS memory_ns,
    sum(iif(summed.part IN ('stream gap', 'handover', 'return from wait'), summed.dur_ns, 0)) AS waiting_ns,
    sum(iif(summed.part IN ('unexplained', 'before', 'after'), summed.dur_ns, 0)) AS unexplained_ns
  FROM numbered
  JOIN summed
    ON summed.number = numbered.number
  GROUP BY numbered.gpu_id, numbered.pid, numbered.tid, numbered.step, numbered.start_ns
)
SELECT
  gpu_id,
  step,
  CASE max(host_ns, launch_ns, compute_ns, communication_ns, memory_ns, waiting_ns, unexplained_ns)
    WHEN compute_ns THEN 'compute'
    WHEN communication_ns THEN 'communication'
    WHEN memory_ns THEN 'memory'
    WHEN host_ns THEN 'host'
    WHEN launch_ns THEN 'launch'
    WHEN waiting_ns THEN 'waiting'
    ELSE 'unexplained'
  END AS bound,
  dur_ns,
  host_ns,
  launch_ns,
  compute_ns,
  communication_ns,
  memory_ns,
  waiting_ns,
  unexplained_ns,
  100.0 * unexplained_ns / nullif(dur_ns, 0) AS unexplained_pct,
  start_ns,
  pid,
  tid
FROM bound
ORDER BY gpu_id, pid, tid, step, start_ns
