/*---
name: syscall_sum
version: 1
title: System call summary
summary: Time per system call of the kernel, largest total first.
why: To see what threads ask of the operating system, and what they wait for there.
kind: sum
tags: [osrt]
reads: [string, syscall]
requires: [syscall]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of system call time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations over all threads."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration of a call; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one call."}
  - {name: syscall_name, type: text, label: "system call", priority: 0, doc: "Name of the system call, such as futex."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no system call was recorded"
limits: >-
  Times of all threads are added up, so threads that only wait dominate. NVIDIA has this report since 2025; it was not
  compared with it, because no report with system calls was at hand.
see_also: [osrt_sum, file_access_sum, thread_time]
nsys:
  title: Syscall Summary
  lacks:
    - {says: "syscall trace data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Num Calls, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Name, sql: syscall_name}
---*/
WITH
by_name AS (
  SELECT
    name_id,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM syscall
  GROUP BY name_id
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  (SELECT text FROM string WHERE string_id = name_id) AS syscall_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, syscall_name, name_id
