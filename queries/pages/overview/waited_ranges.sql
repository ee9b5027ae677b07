/*---
name: waited_ranges
version: 1
title: Range of the thread that is waited for
summary: The range of another thread while the launching thread waits for a thread.
why: To name what makes the launching thread wait, such as a writer that is slower than the GPU.
kind: info
internal: true
tags: [gpu, nvtx, osrt]
reads: [all_nvtx_range, all_os_call, idle_os_call, os_function, thread]
requires: [all_nvtx_range, idle_part, os_call]
rows_if: EXISTS (SELECT 1 FROM idle_os_call WHERE role = 'thread')
columns:
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Range in which another thread of the process works for half or more of the waits: of those, the one with the shortest calls."}
  - {name: tid, type: id, label: "thread", priority: 0, doc: "That thread."}
  - {name: thread_name, type: text, priority: 1, doc: "Its name; null if it has none."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Its ranges of this name that overlap a wait."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 1, doc: "Mean length of these ranges."}
  - {name: total_ns, type: duration, unit: ns, label: "in the waits", priority: 1, doc: "Their time in the waits, without the thread's own waits."}
  - {name: waited_ns, type: duration, unit: ns, label: "waits", priority: 1, doc: "Idle time of GPUs in which the launching thread waits for a thread."}
checks:
  - total_ns <= waited_ns
limits: >-
  Which thread is waited for is not recorded: this is the one that works meanwhile. Only ranges that were pushed and
  popped count. A thread that also waits in its ranges while the launching thread works gets less than its time.
see_also: [feeding_calls, idle_calls]
---*/
WITH
waited AS MATERIALIZED (
  SELECT DISTINCT global_tid, global_tid / 16777216 AS process, start_ns, end_ns
  FROM idle_os_call
  WHERE role = 'thread'
),
other AS MATERIALIZED (
  SELECT range.global_tid, range.range_name, range.start_ns, range.end_ns
  FROM all_nvtx_range AS range
  WHERE range.range_kind = 'PushPop'
    AND range.range_name IS NOT NULL
    AND EXISTS (SELECT 1 FROM waited)
    AND range.global_tid NOT IN (SELECT global_tid FROM waited)
    AND range.global_tid / 16777216 IN (SELECT process FROM waited)
),
own_wait AS (
  SELECT global_tid, start_ns, end_ns
  FROM all_os_call
  WHERE event_class = 27
    AND global_tid IN (SELECT global_tid FROM other)
    AND name_id IN (SELECT name_id FROM os_function WHERE role NOT IN ('open', 'read', 'write'))
),
-- Where the thread works, and where another one waits.
working AS (
  SELECT
    *,
    overlap_ns((SELECT time_set(process, start_ns, end_ns) FROM waited), global_tid / 16777216, start_ns, end_ns)
      - coalesce(
        overlap_ns((SELECT time_set(global_tid, start_ns, end_ns) FROM own_wait), global_tid, start_ns, end_ns),
        0
      ) AS dur_ns
  FROM other
)
SELECT
  working.range_name,
  working.global_tid & 16777215 AS tid,
  (SELECT min(thread_name) FROM thread WHERE thread.global_tid = working.global_tid) AS thread_name,
  count(*) AS range_count,
  CAST(avg(working.end_ns - working.start_ns) AS INTEGER) AS mean_ns,
  min(sum(working.dur_ns), (SELECT busy_ns(start_ns, end_ns) FROM waited)) AS total_ns,
  (SELECT busy_ns(start_ns, end_ns) FROM waited) AS waited_ns
FROM working
WHERE working.dur_ns > 0
GROUP BY working.global_tid, working.range_name
HAVING 2 * sum(working.dur_ns) >= (SELECT busy_ns(start_ns, end_ns) FROM waited)
ORDER BY mean_ns, working.global_tid, working.range_name
LIMIT 1
