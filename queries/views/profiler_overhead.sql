/*---
name: profiler_overhead
summary: One row per interval in which the profiler itself blocked a thread.
present_if: [src_profiler_overhead]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_profiler_overhead, src_string_id]
columns:
  - {name: overhead_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the profiler's work, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the profiler's work."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: overhead_name, type: text, doc: "What the profiler did, such as CUDA profiling data flush."}
  - {name: is_own, type: bool, doc: "Whether the profiler took the time; false for dlopen, which the program asked for, and for Unknown, which may be work of the driver such as compilation of PTX."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: tid, type: id, doc: "Operating system ID of the delayed thread; null if unknown."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs; null if unknown."}
---*/
SELECT
  row_id AS overhead_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  overhead_name,
  NOT coalesce(overhead_name = 'Unknown' OR overhead_name GLOB 'dlopen(*', 0) AS is_own,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM (
  SELECT *, (SELECT value FROM src_string_id WHERE id = nameId) AS overhead_name
  FROM src_profiler_overhead
)
