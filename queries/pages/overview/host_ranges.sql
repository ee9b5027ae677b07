/*---
name: host_ranges
version: 2
title: Ranges of a report without GPU work
summary: NVTX ranges by time on the host, if the report has no GPU work.
why: Without GPU work, ranges are all that shows what a program did.
kind: sum
internal: true
tags: [nvtx]
reads: [gpu_op, graph_trace, nvtx_range]
requires: [nvtx_range]
rows_if: NOT EXISTS (SELECT 1 FROM gpu_op) AND NOT EXISTS (SELECT 1 FROM graph_trace)
params:
  - {name: most, type: int, default: 5, min: 1, doc: "Most names."}
columns:
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 0, doc: "Number of ranges."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 0, doc: "Sum of their lengths; ranges inside each other count each."}
  - {name: thread_count, type: int, unit: count, label: "threads", priority: 1, doc: "Threads that have ranges of this name."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 1, doc: "Median of their lengths."}
  - {name: longest_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "The longest range."}
  - {name: time_pct, type: percent, unit: percent, label: "% of all", priority: 0, doc: "total_ns as a share of the time of these threads, from the first start to the last end of all ranges; more than 100 where ranges of one name are inside each other."}
  - {name: is_stage, type: bool, priority: 3, doc: "Whether ranges that repeat and lie in no other range fill half of the time or more: then only these are rows, and their times add up."}
  - {name: first_start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first range."}
  - {name: period_ns, type: duration, unit: ns, label: "start to start", priority: 2, doc: "Mean time from the start of one to the start of the next; null for less than ten, or on several threads."}
limits: Times are those of the host. A range that waits for the GPU contains work that was launched before it.
---*/
WITH
range AS MATERIALIZED (
  SELECT
    range_name,
    start_ns,
    end_ns,
    dur_ns,
    global_tid,
    coalesce(max(end_ns) OVER before > start_ns, false) AS is_inside
  FROM nvtx_range
  WHERE NOT EXISTS (SELECT 1 FROM gpu_op)
    AND NOT EXISTS (SELECT 1 FROM graph_trace)
  WINDOW before AS (
    PARTITION BY global_tid
    ORDER BY start_ns, end_ns DESC, range_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
span AS MATERIALIZED (
  SELECT max(end_ns) - min(start_ns) AS dur_ns
  FROM range
),
named AS MATERIALIZED (
  SELECT
    range_name,
    count(*) AS range_count,
    sum(dur_ns) AS total_ns,
    count(DISTINCT global_tid) AS thread_count,
    median(dur_ns) AS median_ns,
    max(dur_ns) AS longest_ns,
    2 * sum(is_inside) < count(*) AND count(*) >= 10 AS is_outermost,
    min(start_ns) AS first_start_ns,
    iif(
      count(*) >= 10 AND count(DISTINCT global_tid) = 1,
      (max(start_ns) - min(start_ns)) / (count(*) - 1),
      NULL
    ) AS period_ns
  FROM range
  GROUP BY range_name
),
stage AS MATERIALIZED (
  SELECT coalesce(2 * sum(iif(is_outermost, total_ns, 0)) >= (SELECT dur_ns FROM span), false) AS is_stage
  FROM named
)
SELECT
  range_name,
  range_count,
  total_ns,
  thread_count,
  median_ns,
  longest_ns,
  100.0 * total_ns / nullif(thread_count * (SELECT dur_ns FROM span), 0) AS time_pct,
  is_stage,
  first_start_ns,
  period_ns
FROM named
CROSS JOIN stage
WHERE is_outermost
  OR NOT is_stage
ORDER BY total_ns DESC, range_name
LIMIT :most
