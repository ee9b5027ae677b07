/*---
name: feeding_calls
version: 1
title: System calls of other threads in idle time
summary: Files and sockets that other threads read while a launching thread waits.
why: To see what a GPU waits for whose launching thread waits for another thread, such as a loader.
kind: sum
tags: [gpu, osrt]
internal: true
reads: [all_os_call, idle_os_call, os_function]
requires: [idle_part, os_call]
columns:
  - {name: function_name, type: text, label: "OS call", priority: 0, doc: "Function that the other threads were in, such as pread64."}
  - {name: thread_count, type: int, unit: count, label: "threads", priority: 0, doc: "Threads that were in it."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Time in these calls while a launching thread of the process waited for a thread and a GPU idled; threads add up."}
  - {name: waited_ns, type: duration, unit: ns, label: "waited", priority: 1, doc: "How long launching threads waited meanwhile."}
checks:
  - total_ns > 0
limits: Of nested calls, each counts under its own name. What the other threads compute has no row.
see_also: [idle_calls, host_work, syscall_sum]
---*/
WITH
waited AS MATERIALIZED (
  SELECT DISTINCT global_tid, global_tid / 16777216 AS process, start_ns, end_ns
  FROM idle_os_call
  WHERE role = 'thread'
),
met AS (
  SELECT
    name_id,
    global_tid,
    -- A loader feeds the threads of its own process.
    overlap_ns(
      (SELECT time_set(process, start_ns, end_ns) FROM waited),
      global_tid / 16777216,
      start_ns,
      end_ns
    ) AS dur_ns
  FROM all_os_call
  WHERE event_class = 27
    AND EXISTS (SELECT 1 FROM waited)
    AND global_tid NOT IN (SELECT global_tid FROM waited)
    AND global_tid / 16777216 IN (SELECT process FROM waited)
    AND name_id IN (SELECT name_id FROM os_function WHERE role IN ('open', 'read', 'receive'))
)
SELECT
  os_function.function_name,
  count(DISTINCT met.global_tid) AS thread_count,
  sum(met.dur_ns) AS total_ns,
  (SELECT sum(end_ns - start_ns) FROM waited) AS waited_ns
FROM met
JOIN os_function
  ON os_function.name_id = met.name_id
WHERE met.dur_ns > 0
GROUP BY os_function.function_name
ORDER BY total_ns DESC, os_function.function_name
