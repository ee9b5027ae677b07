/*---
name: os_call
summary: One row per traced call of the C library or POSIX threads.
present_if: [src_osrt_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_osrt_api, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Function name, such as poll."}
  - {name: name_id, type: id, doc: "ID of function_name; faster to group by than the text."}
  - {name: event_class, type: id, doc: "NVIDIA's code for the library; 27 is the OS runtime."}
  - {name: return_value, type: int, doc: "Return value of the call."}
  - {name: nesting_level, type: int, doc: "Number of traced calls around this one; null if unknown."}
  - {name: stack_id, type: id, doc: "Stack of the caller, whose frames os_stack has; null if none was recorded."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
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
  nullif(callchainId, 0) AS stack_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_osrt_api
