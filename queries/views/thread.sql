/*---
name: thread
summary: One row per named thread.
present_if: [src_thread_name]
reads: [src_thread_name, src_string_id]
columns:
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
  - {name: thread_name, type: text, doc: "Name of the lowest priority: what NVTX gave it, else what the profiler or the kernel calls it."}
  - {name: priority, type: int, doc: "Whose name it is: 0 given by NVTX, 10 by the profiler, 20 the kernel's."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
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
