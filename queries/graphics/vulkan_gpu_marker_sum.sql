/*---
name: vulkan_gpu_marker_sum
version: 1
title: Vulkan GPU range summary
summary: GPU time per range of Vulkan debug markers, largest total first.
why: To see which parts of a frame take GPU time, by the markers of the program.
kind: sum
tags: [gpu]
reads: [marker_sum]
requires: [vulkan_gpu_marker]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of range time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all threads."}
  - {name: ranges, type: int, unit: count, priority: 1, doc: "Number of ranges."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a range."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest range."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one range."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Name of the range."}
checks:
  - ranges >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no range of markers with a length was recorded"
limits: >-
  Nested ranges count in full, and all GPUs count together. Names with a total of 0 ns are left out, as in NVIDIA's report.
see_also: [vulkan_marker_sum]
nsys:
  title: Vulkan GPU Range Summary
  aliases: [vulkangpumarkersum]
  lacks:
    - {says: "GPU Vulkan Debug Extension (GPU Vulkan Debug markers) data"}
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
FROM marker_sum
WHERE api = 'Vulkan'
  AND on_gpu
ORDER BY total_ns DESC, ranges DESC, range_name, name_id
