/*---
name: osrt_sum
version: 1
title: OS runtime summary
summary: Time per function of the C library and POSIX threads, largest total first.
why: To see what the CPU waits for, such as locks, sleeps, polls and files.
kind: sum
tags: [osrt]
reads: [os_call, string]
requires: [os_call]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of OS runtime time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations over all threads."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration of a call; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one call."}
  - {name: function_name, type: text, label: "function", priority: 0, doc: "Function name, such as poll."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no call of the C library or POSIX threads was recorded"
limits: >-
  Only calls of NVIDIA's event class 27, the OS runtime, count. Times of all threads are added up, so threads that only
  wait dominate. A call inside another traced call counts again. Calls shorter than the capture's threshold (1
  microsecond by default) are not recorded.
see_also: [cuda_api_sum, nvtx_sum]
nsys:
  title: OS Runtime Summary
  aliases: [osrtsum]
  lacks:
    - {says: "OS Runtime trace data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Num Calls, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Name, sql: function_name}
---*/
WITH
-- Group by name ID, not text: it is many times faster.
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
  FROM os_call
  -- The table also holds the times at which the profiler started and stopped in a process.
  WHERE event_class = 27
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
  (SELECT text FROM string WHERE string_id = name_id) AS function_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, function_name, name_id
