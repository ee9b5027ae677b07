/*---
name: nvtx_sum
version: 1
title: NVTX range summary
summary: Time in NVTX ranges per name and style, largest total first.
why: To see which annotated phases take the time on the CPU, before asking what the GPU did in them.
kind: sum
tags: [nvtx]
reads: [nvtx_range]
columns:
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of range lengths; ranges inside others count again."}
  - {name: calls, type: int, unit: count, doc: "Ranges of this name."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean length of a range."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median length of a range; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest range."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of range lengths; 0 for one."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  Times are those of the CPU, inclusive: what a range spends in ranges inside it counts in both, so the shares of nested
  ranges must not be added up. A range that was never ended usually lasts until the end of the capture. Ranges that
  another thread ended are in it.
see_also: [nvtx_pushpop_sum, nvtx_startend_sum]
nsys:
  title: NVTX Range Summary
  aliases: [nvtxsum]
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Style, sql: range_kind}
    - {name: Range, sql: range_name}
---*/
WITH
by_name AS (
  SELECT
    range_name,
    range_kind,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM nvtx_range
  GROUP BY range_name, range_kind
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
  range_kind,
  range_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, range_name, range_kind
