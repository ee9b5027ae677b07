/*---
name: launch_queue
version: 1
title: Launches that wait in the queue
summary: Launches queued on each GPU, and for how long a full queue blocks calls.
why: To tell a launch that is slow from one that waits for room in the queue of a busy GPU.
kind: sum
tags: [api, cuda, gpu, latency]
reads: [device, launch]
requires: [launch]
params:
  - {name: full, type: int, default: 500, min: 1, doc: "Fewest launches in a queue that can be full. The queue of a GPU holds about a thousand."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 2, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, label: "process", priority: 0, doc: "Operating system process ID."}
  - {name: launches, type: int, unit: count, priority: 1, doc: "Calls that launched an operation."}
  - {name: usual_call_ns, type: duration, unit: ns, label: "usual call", priority: 1, doc: "Time of a launching call that three of four exceed."}
  - {name: median_depth, type: real, unit: count, label: "median depth", priority: 1, doc: "Median number of launches that had been issued, and whose operations had not ended, at the start of a launch."}
  - {name: max_depth, type: int, unit: count, label: "max depth", priority: 0, doc: "The largest of these numbers."}
  - {name: blocked_calls, type: int, unit: count, priority: 0, doc: "Launching calls that took more than twice the usual time with nine tenths of max_depth or more in the queue, if that holds as many as the parameter full says."}
  - {name: blocked_ns, type: duration, unit: ns, label: "blocked time", priority: 0, doc: "Time of these calls above usual_call_ns."}
checks:
  - blocked_calls BETWEEN 0 AND launches AND blocked_ns >= 0
  - max_depth < launches
when_empty: "no launch was recorded with its operation"
limits: >-
  A blocked call costs nothing by itself: the GPU has work for as long as the queue holds. A graph launch counts once,
  until its last operation ends. Copies and fills are launches, too.
see_also: [launch_latency, cuda_kern_exec_trace, queued_work]
---*/
WITH
call AS MATERIALIZED (
  SELECT
    global_pid,
    pid,
    device_id,
    call_id,
    min(call_start_ns) AS start_ns,
    max(call_end_ns) - min(call_start_ns) AS dur_ns,
    max(end_ns) AS end_ns
  FROM launch
  WHERE call_id IS NOT NULL
  GROUP BY global_pid, pid, device_id, call_id
),
event AS (
  SELECT global_pid, pid, device_id, call_id, dur_ns, start_ns AS at_ns, 1 AS adds
  FROM call
  UNION ALL
  SELECT global_pid, pid, device_id, call_id, dur_ns, end_ns, -1
  FROM call
),
-- An operation that ends when another one is launched has left the queue.
counted AS (
  SELECT
    *,
    sum(adds) OVER in_order - 1 AS depth
  FROM event
  WINDOW in_order AS (
    PARTITION BY global_pid, device_id
    ORDER BY at_ns, adds, call_id
    ROWS UNBOUNDED PRECEDING
  )
),
launched AS MATERIALIZED (
  SELECT global_pid, pid, device_id, dur_ns, depth
  FROM counted
  WHERE adds = 1
),
deepest AS MATERIALIZED (
  SELECT global_pid, device_id, max(depth) AS depth
  FROM launched
  GROUP BY global_pid, device_id
),
usual AS MATERIALIZED (
  SELECT global_pid, device_id, CAST(percentile(dur_ns, 25) AS INTEGER) AS dur_ns
  FROM call
  GROUP BY global_pid, device_id
),
judged AS (
  SELECT
    launched.*,
    usual.dur_ns AS usual_ns,
    deepest.depth >= :full
      AND launched.depth >= 0.9 * deepest.depth
      AND launched.dur_ns > 2 * usual.dur_ns AS is_blocked
  FROM launched
  JOIN deepest
    ON deepest.global_pid = launched.global_pid
    AND deepest.device_id = launched.device_id
  JOIN usual
    ON usual.global_pid = launched.global_pid
    AND usual.device_id = launched.device_id
)
SELECT
  coalesce(
    (SELECT max(device.gpu_id) FROM device WHERE device.device_id = judged.device_id AND device.pid = judged.pid),
    (SELECT max(device.gpu_id) FROM device WHERE device.device_id = judged.device_id AND device.pid IS NULL),
    device_id
  ) AS gpu_id,
  device_id,
  pid,
  count(*) AS launches,
  max(usual_ns) AS usual_call_ns,
  median(depth) AS median_depth,
  max(depth) AS max_depth,
  sum(is_blocked) AS blocked_calls,
  sum(iif(is_blocked, dur_ns - usual_ns, 0)) AS blocked_ns
FROM judged
GROUP BY global_pid, pid, device_id
ORDER BY blocked_ns DESC, max_depth DESC, pid, device_id, global_pid
