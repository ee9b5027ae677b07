/*---
name: interpreter_waits
version: 1
title: Waits for Python's interpreter lock
summary: Idle time in which the launching thread waits for the lock of Python.
why: To see that another thread of Python delays the one that launches.
kind: info
internal: true
tags: [gpu, osrt]
reads: [idle_os_call, os_call, process]
requires: [idle_part, os_call]
rows_if: EXISTS (SELECT 1 FROM process WHERE process_name GLOB '*python*')
params:
  - {name: interval, type: duration, default: 5ms, min: 0, doc: "Time after which a thread asks for the lock: sys.setswitchinterval of Python."}
  - {name: least, type: int, default: 5, min: 1, doc: "Fewest waits."}
columns:
  - {name: wait_count, type: int, unit: count, label: "waits", priority: 0, doc: "Waits with a time limit that take one interval, up to a fifth longer."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 0, doc: "Idle time of the GPUs in these waits, before the next launch; GPUs add up."}
  - {name: all_ns, type: duration, unit: ns, label: "in all these calls", priority: 1, doc: "The same in all waits with a time limit."}
checks:
  - total_ns <= all_ns
limits: The lock is not recorded, only the length of the waits. Other waits of that length count as well.
see_also: [idle_calls, lock_turns]
---*/
WITH
waited AS MATERIALIZED (
  SELECT call_id, sum(dur_ns) AS dur_ns
  FROM idle_os_call
  WHERE function_name IN ('pthread_cond_timedwait', 'pthread_cond_clockwait', 'sem_timedwait', 'sem_clockwait')
  GROUP BY call_id
),
summed AS (
  SELECT
    process.global_pid,
    sum(os_call.dur_ns BETWEEN :interval AND 1.2 * :interval) AS wait_count,
    sum(iif(os_call.dur_ns BETWEEN :interval AND 1.2 * :interval, waited.dur_ns, 0)) AS total_ns,
    sum(waited.dur_ns) AS all_ns
  FROM waited
  JOIN os_call
    ON os_call.call_id = waited.call_id
  JOIN process
    ON process.global_pid = os_call.global_pid
  WHERE process.process_name GLOB '*python*'
  GROUP BY process.global_pid
)
SELECT wait_count, total_ns, all_ns
FROM summed
WHERE wait_count >= :least
  AND 2 * total_ns >= all_ns
ORDER BY total_ns DESC, global_pid
LIMIT 1
