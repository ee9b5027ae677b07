/*---
name: thread_state
summary: One row per interval of a thread's time, with its state by the operating system's scheduler.
present_if: [src_sched_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_sched_event]
columns:
  - {name: switch_id, type: id, doc: "Row ID of the context switch that starts the interval, in the raw table; null before the first switch of the thread."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always greater than 0."}
  - {name: state, type: text, doc: "running; runnable: ready, but another thread has the CPU; blocked: waits for something; off CPU: runnable or blocked, the export does not record which; ended; or unknown: see limits."}
  - {name: cpu, type: int, doc: "Logical CPU that the thread runs on; in other states, the CPU that it left; null before the first switch, unless it runs."}
  - {name: is_border, type: bool, doc: "Whether the interval lies before the first or after the last switch of the thread, so that its other end is the end of the recording."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  The intervals of a thread cover the time from the first to the last context switch of any thread. Before its first
  switch, a thread runs if that switch takes it off a CPU; otherwise its state is unknown, since it may not exist yet.
  After its last switch, it runs if that switch put it on a CPU; otherwise its state is unknown, since it may have
  ended, unless the switch says more. The state is also unknown between two switches of the same direction, because one
  between them was lost. Captures on Linux do not distinguish runnable from blocked.
---*/
WITH
recording AS (
  SELECT min(start) AS start_ns, max(start) AS end_ns
  FROM src_sched_event
),
switch AS (
  SELECT
    row_id AS switch_id,
    start AS at_ns,
    lead(start) OVER thread AS next_ns,
    lead(isSchedIn <> 0) OVER thread AS next_is_in,
    row_number() OVER thread = 1 AS is_first,
    isSchedIn <> 0 AS is_in,
    cpu,
    threadState AS code,
    threadBlock AS blocked_on,
    globalTid AS global_tid
  FROM src_sched_event
  WHERE globalTid IS NOT NULL
  WINDOW thread AS (PARTITION BY globalTid ORDER BY start, row_id)
),
-- Each switch begins an interval, and the first of a thread also ends one.
side (begins) AS (
  VALUES (0), (1)
),
interval AS (
  SELECT
    iif(side.begins, switch.switch_id, NULL) AS switch_id,
    iif(side.begins, switch.at_ns, recording.start_ns) AS start_ns,
    iif(side.begins, coalesce(switch.next_ns, recording.end_ns), switch.at_ns) AS end_ns,
    CASE
      WHEN NOT side.begins THEN iif(switch.is_in, 'unknown', 'running')
      WHEN switch.is_in = switch.next_is_in THEN 'unknown'
      WHEN switch.is_in THEN 'running'
      WHEN switch.code = 5 THEN 'ended'
      -- The end of a time slice, preemption and yielding.
      WHEN switch.code = 1 OR switch.blocked_on IN (42, 43, 44, 45, 49, 51) THEN 'runnable'
      WHEN switch.code IN (2, 3, 4, 7) OR switch.blocked_on >= 2 THEN 'blocked'
      WHEN switch.next_ns IS NULL THEN 'unknown'
      ELSE 'off CPU'
    END AS state,
    iif(side.begins OR NOT switch.is_in, switch.cpu, NULL) AS cpu,
    NOT side.begins OR switch.next_ns IS NULL AS is_border,
    switch.global_tid
  FROM switch
  CROSS JOIN recording
  CROSS JOIN side
  WHERE side.begins
    OR switch.is_first
)
SELECT
  switch_id,
  start_ns,
  end_ns,
  end_ns - start_ns AS dur_ns,
  state,
  cpu,
  is_border,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM interval
WHERE end_ns > start_ns
