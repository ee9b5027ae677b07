/*---
name: os_call
summary: One row per traced call of the C library or POSIX threads.
present_if: [src_osrt_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_osrt_api, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Call began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Call ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Name of the function, such as poll."}
  - {name: name_id, type: id, doc: "Stands for function_name: cheaper to group by."}
  - {name: event_class, type: id, doc: "NVIDIA's number for the library; 27 is the OS runtime."}
  - {name: return_value, type: int, doc: "What the call returned."}
  - {name: nesting_level, type: int, doc: "Depth below another traced call, from 0; null if unknown."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: Calls shorter than the capture's threshold (1 microsecond by default) are not recorded.
---*/
SELECT
  row_id AS call_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS function_name,
  nameId AS name_id,
  eventClass AS event_class,
  returnValue AS return_value,
  nestingLevel AS nesting_level,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_osrt_api
