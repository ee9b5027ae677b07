/*---
name: longest_gaps
version: 2
title: What long gaps come before
summary: The operation before which GPUs idle longest, in long gaps, in one row.
why: To name a place where no NVTX range does, as a kernel whose launch the host prepares.
kind: info
internal: true
tags: [gpu]
reads: [gpu_gap, gpu_window]
requires: [gpu_gap]
params:
  - {name: least, type: duration, default: 500us, min: 0, doc: "Shortest gap to count."}
columns:
  - {name: next_op, type: text, label: "next operation", priority: 0, doc: "Operation after the gaps, with all its arguments if it is a kernel."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 0, doc: "Gaps before operations of this name, on all GPUs."}
  - {name: median_ns, type: duration, unit: ns, label: "median gap", priority: 1, doc: "The middle one of their lengths."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Length of the longest."}
  - {name: total_ns, type: duration, unit: ns, label: "together", priority: 1, doc: "Sum of their lengths."}
  - {name: idle_pct, type: percent, unit: percent, label: "% of idle time", priority: 0, doc: "total_ns as a share of the idle time of all GPUs."}
checks:
  - gap_count > 0 AND total_ns > 0
limits: Time before the first and after the last operation is no gap, unless the scope has a window. There is no row without a long gap.
---*/
WITH
named AS (
  SELECT
    after_name,
    count(*) AS gap_count,
    median(dur_ns) AS median_ns,
    max(dur_ns) AS max_ns,
    sum(dur_ns) AS total_ns,
    row_number() OVER (ORDER BY sum(dur_ns) DESC, after_name) AS nth
  FROM gpu_gap
  WHERE level = 'gpu'
    AND dur_ns >= :least
    AND after_name IS NOT NULL
  GROUP BY after_name
)
SELECT
  after_name AS next_op,
  gap_count,
  CAST(median_ns AS INTEGER) AS median_ns,
  max_ns,
  total_ns,
  100.0 * total_ns / nullif((SELECT sum(idle_ns) FROM gpu_window), 0) AS idle_pct
FROM named
WHERE nth = 1
ORDER BY next_op
