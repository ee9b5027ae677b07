/*---
name: opengl_khr_gpu_range_sum
version: 1
title: OpenGL KHR_debug GPU range summary
summary: GPU time per KHR_debug range of OpenGL, largest total first.
why: To see which parts of a frame take time, by the debug groups of the program.
kind: sum
tags: [gpu]
reads: [opengl_range]
requires: [opengl_range]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of range time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all threads."}
  - {name: ranges, type: int, unit: count, priority: 1, doc: "Number of ranges."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a range."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest range."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one range."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message of the range; the ID that the program gave it if it has none."}
checks:
  - ranges >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no KHR_debug range with a length was recorded on the GPU"
limits: >-
  Nested ranges count in full. A range without an end lasts until the last time of all markers. Names with a total of 0 ns
  are left out, as in NVIDIA's report. If no marker at all has an end, NVIDIA's report is empty; nsq's is not.
see_also: [opengl_khr_range_sum]
nsys:
  title: OpenGL KHR_debug GPU Range Summary
  aliases: [khrdebuggpusum]
  lacks:
    - {says: "GPU KHR Extension (KHR_DEBUG) data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: ranges}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Range, sql: range_name}
---*/
WITH
by_name AS (
  SELECT
    range_name,
    sum(dur_ns) AS total_ns,
    count(*) AS ranges,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM opengl_range
  WHERE on_gpu
  GROUP BY range_name
  HAVING sum(dur_ns) > 0
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  ranges,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  range_name
FROM by_name
ORDER BY total_ns DESC, ranges DESC, range_name
