/*---
name: scope_threads
version: 1
title: Threads for --thread
summary: One row per thread with a name, CUDA calls or NVTX ranges, most calls first.
why: To choose whose ranges, calls and launched GPU work to look at.
kind: sum
tags: [capture, cuda, nvtx]
reads: [all_cuda_call, all_nvtx_range, thread]
requires: []
columns:
  - {name: thread_name, type: text, label: "thread", priority: 0, doc: "Thread name; null if it has none."}
  - {name: pid, type: id, priority: 1, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 0, doc: "Operating system thread ID."}
  - {name: call_count, type: int, unit: count, label: "CUDA calls", priority: 1, doc: "CUDA API calls of the thread."}
  - {name: range_count, type: int, unit: count, label: "NVTX ranges", priority: 1, doc: "NVTX ranges that the thread started."}
  - {name: global_tid, type: id, priority: 3, doc: "Thread ID, unique across hosts and VMs."}
checks:
  - call_count >= 0 AND range_count >= 0
when_empty: "no thread has a name, CUDA calls or NVTX ranges"
limits: Scope options leave out nothing here. Several threads can have one name, and --thread selects them all.
see_also: [scope_ids, thread_time, nvtx_sum]
---*/
WITH
event AS (
  SELECT global_tid, count(*) AS call_count, 0 AS range_count
  FROM all_cuda_call
  GROUP BY global_tid
  UNION ALL
  SELECT global_tid, 0, count(*)
  FROM all_nvtx_range
  GROUP BY global_tid
  UNION ALL
  SELECT global_tid, 0, 0
  FROM thread
)
SELECT
  thread.thread_name,
  event.global_tid >> 24 & 16777215 AS pid,
  event.global_tid & 16777215 AS tid,
  sum(event.call_count) AS call_count,
  sum(event.range_count) AS range_count,
  event.global_tid
FROM event
LEFT JOIN thread
  ON thread.global_tid = event.global_tid
WHERE event.global_tid IS NOT NULL
GROUP BY event.global_tid
ORDER BY sum(event.call_count) DESC, sum(event.range_count) DESC, event.global_tid
