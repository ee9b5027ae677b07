/*---
name: process
summary: One row per process named in the capture.
present_if: [src_process]
reads: [src_process]
columns:
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: process_name, type: text, doc: "Name or path of the executable; null if unknown."}
---*/
SELECT
  globalPid AS global_pid,
  min(pid) AS pid,
  min(name) AS process_name
FROM src_process
GROUP BY globalPid
