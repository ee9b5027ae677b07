/*---
name: lock_turns
version: 1
title: Threads that take turns on a lock
summary: How long the threads that launch wait for locks, in one row.
why: To see that several threads launch no more than one would, because each waits for the others.
kind: info
tags: [cuda, gpu, osrt]
internal: true
reads: [cuda_call, os_call, os_function]
requires: [cuda_call, os_call]
rows_if: EXISTS (SELECT 1 FROM os_function WHERE role = 'lock')
params:
  - {name: at_least_pct, type: real, default: 20, min: 0, max: 100, doc: "Smallest share of a thread's time in waits for locks."}
columns:
  - {name: function_name, type: text, label: "OS call", priority: 0, doc: "Function that takes the lock."}
  - {name: thread_count, type: int, unit: count, label: "threads", priority: 0, doc: "Threads with CUDA calls that wait in it for at_least_pct of the time from their first to their last CUDA call; two or more."}
  - {name: wait_count, type: int, unit: count, label: "waits", priority: 1, doc: "Their waits."}
  - {name: total_ns, type: duration, unit: ns, label: "waiting", priority: 1, doc: "Sum of these waits."}
  - {name: wait_pct, type: percent, unit: percent, label: "% of the threads' time", priority: 0, doc: "total_ns as a share of the time from the first to the last CUDA call of each thread."}
checks:
  - thread_count > 1
  - wait_pct >= 0
limits: Locks of other libraries that call the kernel themselves are not recorded, nor are waits below the capture's threshold.
see_also: [lock_contention, osrt_sum]
---*/
WITH
launching AS MATERIALIZED (
  SELECT global_tid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM cuda_call
  GROUP BY global_tid
),
waiting AS (
  SELECT
    launching.global_tid & -16777216 AS global_pid,
    os_call.name_id,
    count(*) AS wait_count,
    sum(os_call.dur_ns) AS total_ns,
    launching.end_ns - launching.start_ns AS window_ns
  FROM os_call
  JOIN launching
    ON launching.global_tid = os_call.global_tid
    AND os_call.start_ns BETWEEN launching.start_ns AND launching.end_ns
  WHERE os_call.name_id IN (SELECT name_id FROM os_function WHERE role = 'lock')
  GROUP BY launching.global_tid, os_call.name_id
  HAVING 100.0 * sum(os_call.dur_ns) >= :at_least_pct * window_ns
)
SELECT
  os_function.function_name,
  count(*) AS thread_count,
  sum(waiting.wait_count) AS wait_count,
  sum(waiting.total_ns) AS total_ns,
  100.0 * sum(waiting.total_ns) / sum(waiting.window_ns) AS wait_pct
FROM waiting
JOIN os_function
  ON os_function.name_id = waiting.name_id
GROUP BY waiting.global_pid, waiting.name_id
HAVING count(*) > 1
ORDER BY total_ns DESC, waiting.global_pid, waiting.name_id
LIMIT 1
