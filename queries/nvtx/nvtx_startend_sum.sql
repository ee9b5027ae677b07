/*---
name: nvtx_startend_sum
version: 1
title: NVTX start/end range summary
summary: CPU time in NVTX start/end ranges per name, largest total first.
why: To see how long phases take that overlap or that cross from one thread to another.
kind: sum
tags: [nvtx]
reads: []
asks: [nvtx_sum]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of range time", priority: 1, doc: "total_ns as a share of the sum of all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the range durations. Nested ranges count again."}
  - {name: calls, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges of this name."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a range."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration of a range; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest range."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the range durations; 0 for one range."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no range was started and ended by ID: nvtx_pushpop_sum has the push/pop ranges"
limits: >-
  Times are CPU times. Overlapping ranges count in full, so shares are not shares of the capture. A range that never
  ended usually lasts until the end of the capture. Ranges that another thread ended are included.
see_also: [nvtx_sum, nvtx_pushpop_sum]
nsys:
  title: NVTX Start/End Range Summary
  aliases: [nvtxsesum, nvtxsssum]
  lacks:
    - {says: "NV Tools Extension (NVTX) data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: calls}
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
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  range_name
FROM nvtx_sum
WHERE range_kind = 'StartEnd'
ORDER BY total_ns DESC, calls DESC, range_name, range_kind
