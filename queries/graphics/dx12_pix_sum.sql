/*---
name: dx12_pix_sum
version: 1
title: Direct3D 12 PIX range summary
summary: CPU time per range of PIX markers of Direct3D 12, largest total first.
why: To see what a frame does, by the PIX markers of the program.
kind: sum
tags: [api]
reads: [marker_sum]
requires: [dx12_marker]
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
  A range runs from the return of the call that begins it to the start of the call that ends it on the same thread. Nested
  ranges count in full. Ranges without an end, and names with a total of 0 ns, are left out, as in NVIDIA's report. NVIDIA's
  report also pairs a begin with an earlier end of the same correlation ID; nsq does not.
see_also: [dx12_gpu_marker_sum, dx11_pix_sum]
nsys:
  title: DX12 PIX Range Summary
  aliases: [dx12pixsum]
  lacks:
    - {says: "DX12 CPU debug markers"}
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
WHERE api = 'Direct3D 12'
  AND NOT on_gpu
ORDER BY total_ns DESC, ranges DESC, range_name, name_id
