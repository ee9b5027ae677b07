/*---
name: cpu_sample
summary: One row per CPU sample of a thread.
present_if: [src_composite_event]
scope: {time: [at_ns, at_ns], process: pid, thread: global_tid}
reads: [src_composite_event]
columns:
  - {name: sample_id, type: id, doc: "ID of the sample; cpu_stack has its frames."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Time of the sample, on the report's clock."}
  - {name: cpu, type: int, doc: "Logical CPU that the thread ran on; null if unknown."}
  - {name: state, type: text, doc: "State of the thread: running, blocked, stopped, ended or other; null if unknown. Samples are taken of running threads."}
  - {name: cycles, type: int, unit: count, doc: "Counter events that the sample represents; 1 when sampling by time."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs; null if unknown."}
limits: A thread that waits has no samples.
---*/
SELECT
  id AS sample_id,
  start AS at_ns,
  cpu,
  CASE threadState
    WHEN 0 THEN NULL
    WHEN 1 THEN 'running'
    WHEN 2 THEN 'blocked'
    WHEN 3 THEN 'blocked'
    WHEN 4 THEN 'stopped'
    WHEN 5 THEN 'ended'
    WHEN 7 THEN 'blocked'
    ELSE iif(threadState IS NULL, NULL, 'other')
  END AS state,
  cpuCycles AS cycles,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_composite_event
