/*---
name: thread_time
version: 1
title: How each thread spent its time
summary: Time of each thread on a CPU, ready to run, and waiting.
why: To see whether a thread computes or waits, and in which OS calls.
kind: sum
tags: [osrt]
reads: [os_call, scope, string, thread, thread_state]
requires: [thread_state]
params:
  - {name: by, type: enum, values: [thread, call], default: thread, doc: "Rows: one per thread, or one per thread and OS runtime function."}
columns:
  - {name: thread_name, type: text, label: "thread", priority: 0, doc: "Name of the thread; null if it has none."}
  - {name: tid, type: id, label: "TID", priority: 0, doc: "Operating system thread ID."}
  - {name: pid, type: id, label: "PID", priority: 2, doc: "Operating system process ID."}
  - {name: function_name, type: text, label: "OS call", priority: 1, doc: "Function of the C library or POSIX threads, the outermost of nested calls; null outside these calls, and for by=thread."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Time of the row: the sum of the six states. For by=thread, it is the time from the first to the last context switch of the capture."}
  - {name: running_ns, type: duration, unit: ns, label: "running", priority: 1, doc: "Time on a CPU."}
  - {name: runnable_ns, type: duration, unit: ns, label: "runnable", priority: 2, doc: "Time ready to run, while another thread had the CPU."}
  - {name: blocked_ns, type: duration, unit: ns, label: "blocked", priority: 2, doc: "Time waiting for something."}
  - {name: off_cpu_ns, type: duration, unit: ns, label: "off CPU", priority: 1, doc: "Time runnable or blocked, where the export does not record which."}
  - {name: ended_ns, type: duration, unit: ns, label: "ended", priority: 3, doc: "Time after the thread ended."}
  - {name: unknown_ns, type: duration, unit: ns, label: "unknown", priority: 2, doc: "Time before the first context switch of the thread or after its last one, or around a lost one."}
  - {name: running_pct, type: percent, unit: percent, label: "running % of total", priority: 1, doc: "running_ns as a share of total_ns."}
checks:
  - running_ns + runnable_ns + blocked_ns + off_cpu_ns + ended_ns + unknown_ns = total_ns
  - total_ns > 0
when_empty: "no context switch of a known thread was recorded"
limits: >-
  Captures on Linux do not distinguish runnable from blocked, so both are off_cpu_ns. OS calls shorter than a microsecond are
  not recorded, so by=call counts their time as outside of calls; so it does with all time if OS runtime calls were not
  traced. --time cuts the intervals.
see_also: [cpu_hot, osrt_sum, gpu_idle_host_sum]
---*/
WITH
state AS (
  SELECT
    global_tid,
    max(thread_state.start_ns, coalesce(scope.start_ns, thread_state.start_ns)) AS start_ns,
    min(thread_state.end_ns, coalesce(scope.end_ns, thread_state.end_ns)) AS end_ns,
    CASE state
      WHEN 'running' THEN 1
      WHEN 'runnable' THEN 2
      WHEN 'blocked' THEN 3
      WHEN 'off CPU' THEN 4
      WHEN 'ended' THEN 5
      ELSE 6
    END AS code
  FROM thread_state
  CROSS JOIN scope
),
call AS (
  SELECT global_tid, call_id, start_ns, end_ns
  FROM os_call
  WHERE event_class = 27
    AND :by = 'call'
),
-- A state is its code here, which is the ID of its span.
met AS MATERIALIZED (
  SELECT key AS global_tid, span_id AS code, by_id AS call_id, end_ns - start_ns AS dur_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, code, start_ns, end_ns) FROM state WHERE :by = 'call'),
    (SELECT time_spans_apart(global_tid, call_id, start_ns, end_ns) FROM call)
  )
),
segment AS (
  SELECT global_tid, code, end_ns - start_ns AS dur_ns, NULL AS name_id
  FROM state
  WHERE :by = 'thread'
    AND end_ns > start_ns
  UNION ALL
  SELECT met.global_tid, met.code, met.dur_ns, os_call.name_id
  FROM met
  LEFT JOIN os_call
    ON os_call.call_id = met.call_id
),
summed AS (
  SELECT
    global_tid,
    name_id,
    sum(dur_ns) AS total_ns,
    sum(iif(code = 1, dur_ns, 0)) AS running_ns,
    sum(iif(code = 2, dur_ns, 0)) AS runnable_ns,
    sum(iif(code = 3, dur_ns, 0)) AS blocked_ns,
    sum(iif(code = 4, dur_ns, 0)) AS off_cpu_ns,
    sum(iif(code = 5, dur_ns, 0)) AS ended_ns,
    sum(iif(code = 6, dur_ns, 0)) AS unknown_ns
  FROM segment
  GROUP BY global_tid, name_id
)
SELECT
  (SELECT thread_name FROM thread WHERE thread.global_tid = summed.global_tid) AS thread_name,
  global_tid & 16777215 AS tid,
  global_tid >> 24 & 16777215 AS pid,
  (SELECT text FROM string WHERE string_id = name_id) AS function_name,
  total_ns,
  running_ns,
  runnable_ns,
  blocked_ns,
  off_cpu_ns,
  ended_ns,
  unknown_ns,
  100.0 * running_ns / total_ns AS running_pct
FROM summed
ORDER BY running_ns DESC, total_ns DESC, global_tid, name_id
