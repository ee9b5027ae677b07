/*---
name: syscall
summary: One row per traced call of the operating system's kernel.
present_if: [src_syscall]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_string_id, src_syscall]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: syscall_name, type: text, doc: "Name of the system call, such as futex."}
  - {name: name_id, type: id, doc: "ID of syscall_name; faster to group by than the text."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: The raw table is known from NVIDIA's documentation of nsys 2026.4, and was not seen in a real report.
---*/
SELECT
  row_id AS call_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS syscall_name,
  nameId AS name_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_syscall
