/*---
name: after_last_call
version: 2
title: Main threads after the last CUDA call
summary: One row per process whose main thread goes on without CUDA until the end.
why: To say what a program does after its GPU work, such as writing a file or waiting for a lock.
kind: info
internal: true
tags: [osrt]
reads: [all_cuda_call, all_os_call, capture, capture_phase, os_function]
requires: [cuda_call, os_call, capture]
params:
  - {name: writing_at_least, type: duration, default: 100ms, min: 0, doc: "Shortest time in which the main thread mostly writes to files, as a checkpoint does."}
  - {name: writing_at_least_pct, type: real, default: 5, min: 0, max: 100, doc: "Its smallest share, in percent."}
  - {name: at_least, type: duration, default: 5s, min: 0, doc: "Shortest time of anything else after the last CUDA call. The profiler alone can take some seconds when a program ends."}
  - {name: at_least_pct, type: real, default: 20, min: 0, max: 100, doc: "Its smallest share of the time from the first CUDA call on, in percent."}
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: function_name, type: text, label: "call", priority: 0, doc: "Function of the operating system in which the main thread spends half of that time or more."}
  - {name: total_ns, type: duration, unit: ns, label: "in the call", priority: 0, doc: "Its time in that function, nested calls left out."}
  - {name: after_ns, type: duration, unit: ns, label: "after CUDA", priority: 0, doc: "From the last CUDA call or GPU operation of any process to the end of the last operating system call of the main thread."}
  - {name: capture_ns, type: duration, unit: ns, label: "of", priority: 1, doc: "From the first CUDA call or GPU operation of any process to that end."}
  - {name: waits, type: text, priority: 1, doc: "lock, or wait for another thread, if one call without a limit of time has nine tenths of after_ns and comes last; else null."}
  - {name: writes, type: bool, priority: 1, doc: "1 if the function writes to files."}
checks:
  - total_ns > 0
  - total_ns <= after_ns
limits: >-
  Only main threads that made CUDA calls. Short calls, and what a thread does outside calls of the operating system, are
  not recorded.
see_also: [osrt_sum]
---*/
WITH
used AS MATERIALIZED (
  SELECT DISTINCT pid, min(start_ns) OVER () AS first_ns, max(end_ns) OVER () AS last_ns
  FROM capture_phase
),
-- Calls of the operating system are read only if enough time is left.
ended AS MATERIALIZED (
  SELECT used.*
  FROM used
  CROSS JOIN (SELECT max(dur_ns) AS end_ns FROM capture) AS recorded
  WHERE recorded.end_ns - used.last_ns >= min(:writing_at_least, :at_least)
    AND recorded.end_ns - used.last_ns
      >= (recorded.end_ns - used.first_ns) * min(:writing_at_least_pct, :at_least_pct) / 100
    AND EXISTS (SELECT 1 FROM all_cuda_call AS call WHERE call.pid = used.pid AND call.tid = used.pid)
),
later AS MATERIALIZED (
  SELECT
    ended.*,
    call.function_name,
    call.name_id,
    max(call.start_ns, ended.last_ns) AS start_ns,
    call.end_ns,
    max(call.end_ns) OVER (PARTITION BY ended.pid) AS to_ns
  FROM ended
  JOIN all_os_call AS call
    ON call.pid = ended.pid
    AND call.tid = ended.pid
  WHERE call.end_ns > ended.last_ns
    AND coalesce(call.nesting_level, 0) = 0
),
spent AS (
  SELECT
    pid,
    function_name,
    (SELECT role FROM os_function WHERE os_function.name_id = later.name_id) AS role,
    sum(end_ns - start_ns) AS total_ns,
    max(end_ns - start_ns) AS longest_ns,
    max(end_ns) = to_ns AS is_last,
    to_ns - last_ns AS after_ns,
    to_ns - first_ns AS capture_ns
  FROM later
  GROUP BY pid, function_name
)
SELECT
  pid,
  function_name,
  total_ns,
  after_ns,
  capture_ns,
  CASE
    WHEN NOT is_last OR longest_ns < 0.9 * after_ns THEN NULL
    WHEN function_name GLOB '*_timed*' OR function_name GLOB '*_clock*' THEN NULL
    WHEN role = 'lock' THEN 'lock'
    WHEN role = 'thread' THEN 'wait'
  END AS waits,
  coalesce(role = 'write', 0) AS writes
FROM spent
WHERE after_ns >= iif(role = 'write', :writing_at_least, :at_least)
  AND after_ns >= capture_ns * iif(role = 'write', :writing_at_least_pct, :at_least_pct) / 100
  AND 2 * total_ns > after_ns
ORDER BY after_ns DESC, pid, function_name
