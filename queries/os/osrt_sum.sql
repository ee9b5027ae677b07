/*---
name: osrt_sum
version: 1
title: OS runtime summary
summary: Time in calls of the C library and POSIX threads per function, largest first.
why: To see what the CPU waits for, such as locks, sleeps, polls and files.
kind: sum
tags: [osrt]
reads: [os_call, string]
requires: [os_call]
columns:
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of call times over all threads."}
  - {name: calls, type: int, unit: count, doc: "Calls of the function."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time of a call."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median time of a call; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of call times; 0 for one."}
  - {name: function_name, type: text, doc: "Name of the function, such as poll."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  Only calls of NVIDIA's class 27, the OS runtime, count. Times of all threads are added up, so threads that only
  wait dominate. Calls inside other traced calls count as well. Calls shorter than the capture's threshold (1
  microsecond by default) are not recorded.
see_also: [cuda_api_sum, nvtx_sum]
nsys:
  title: OS Runtime Summary
  aliases: [osrtsum]
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
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
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
  -- The table also holds the instants at which the profiler itself started and stopped in a process.
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
