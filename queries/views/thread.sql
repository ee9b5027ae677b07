/*---
name: thread
summary: One row per named thread.
present_if: [src_thread_name]
reads: [src_thread_name, src_string_id]
columns:
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: thread_name, type: text, doc: "Thread name with the smallest priority: from NVTX, else from the profiler, else from the operating system."}
  - {name: priority, type: int, doc: "Who gave the name: 0 NVTX, 10 the profiler, 20 the operating system."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
---*/
SELECT
  global_tid,
  (SELECT value FROM src_string_id WHERE id = name_id) AS thread_name,
  priority,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid
FROM (
  SELECT
    globalTid AS global_tid,
    nameId AS name_id,
    priority,
    row_number() OVER (PARTITION BY globalTid ORDER BY priority, row_id) AS nth
  FROM src_thread_name
)
WHERE nth = 1
