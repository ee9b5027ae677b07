/*---
name: contended_launches
version: 1
title: Threads that launch at once
summary: Launch calls of a process whose threads wait for each other in them, in one row.
why: To see that more threads launch no more kernels, because the driver takes one launch of a context at a time.
kind: info
internal: true
tags: [cuda, latency]
reads: [gpu_stream, gpu_window, launch]
requires: [gpu_stream, launch]
rows_if: "EXISTS (SELECT 1 FROM gpu_window WHERE 20 * idle_ns >= window_ns) AND EXISTS (SELECT 1 FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream) WHERE 20 * compute_ns >= all_ns AND compute_ns > 0 GROUP BY gpu_id HAVING count(*) > 1)"
params:
  - {name: at_once, type: real, default: 2, min: 1, doc: "Fewest threads that are in a launch call at once, on average."}
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest time of a launch; where launches take less, they do not wait for each other."}
columns:
  - {name: thread_count, type: int, unit: count, label: "threads", priority: 0, doc: "Threads of the process that launch kernels."}
  - {name: call_count, type: int, unit: count, label: "launch calls", priority: 1, doc: "Their launch calls."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean call", priority: 0, doc: "Mean time of a launch call."}
  - {name: each_ns, type: duration, unit: ns, label: "one at a time", priority: 0, doc: "Time in which any thread is in a launch call, for each call: what a call takes that waits for no other."}
checks:
  - mean_ns >= each_ns
limits: >-
  The driver is not looked into: calls that take longer together than alone may have another reason, such as too few
  processors. Graph launches count as one call.
see_also: [lock_turns, launch_latency]
---*/
WITH
-- A graph launch has a row for each of its kernels.
call AS MATERIALIZED (
  SELECT DISTINCT pid, global_tid, call_start_ns AS start_ns, call_end_ns AS end_ns
  FROM launch
  WHERE op_kind = 'kernel'
    AND call_id IS NOT NULL
),
summed AS (
  SELECT
    pid,
    count(DISTINCT global_tid) AS thread_count,
    count(*) AS call_count,
    sum(end_ns - start_ns) AS total_ns,
    busy_ns(start_ns, end_ns) AS any_ns
  FROM call
  GROUP BY pid
)
SELECT
  thread_count,
  call_count,
  total_ns / call_count AS mean_ns,
  any_ns / call_count AS each_ns
FROM summed
WHERE thread_count > 1
  AND total_ns >= :at_once * any_ns
  AND any_ns >= :least * call_count
ORDER BY total_ns DESC, pid
LIMIT 1
