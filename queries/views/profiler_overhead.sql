/*---
name: profiler_overhead
summary: One row per stretch of a thread that the profiler itself used.
present_if: [src_profiler_overhead]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_profiler_overhead, src_string_id]
columns:
  - {name: overhead_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "The profiler's work began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "It was done."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: overhead_name, type: text, doc: "What the profiler did, such as CUDA profiling data flush."}
  - {name: pid, type: id, doc: "Operating system's process id; null if unknown."}
  - {name: tid, type: id, doc: "Operating system's id of the thread that was held up; null if unknown."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; null if unknown."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs; null if unknown."}
---*/
SELECT
  row_id AS overhead_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS overhead_name,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_profiler_overhead
