/*---
name: kernel_durations
version: 1
title: Kernels by execution time
summary: Number and total time of kernels, in bins of which each is twice the one before.
why: To see whether the GPU time is in many short kernels or in a few long ones.
kind: sum
tags: [gpu, kernel]
internal: true
reads: [kernel]
columns:
  - {name: rank, type: int, label: "#", priority: 3, doc: "Position of the bin, from 1."}
  - {name: from_ns, type: duration, unit: ns, label: "from", priority: 0, doc: "Shortest execution time of the bin; 0 for the first one."}
  - {name: below_ns, type: duration, unit: ns, label: "to below", priority: 0, doc: "End of the bin: the first execution time that is too long for it."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Kernels with this execution time."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their execution times."}
  - {name: count_pct, type: percent, unit: percent, label: "share of kernels", priority: 1, doc: "kernel_count as a share of all kernels."}
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of all rows."}
checks:
  - from_ns < below_ns AND kernel_count >= 0
  - total_ns >= kernel_count * from_ns
limits: >-
  The first bin ends at 1 µs. Bins between the shortest and the longest kernel have a row even if they have no kernel.
  Kernels of a CUDA graph traced as a whole are not included.
see_also: [top_kernels, kernel_stats]
---*/
WITH RECURSIVE
whole_us AS MATERIALIZED (
  SELECT dur_ns / 1000 AS dur_us, count(*) AS kernel_count, sum(dur_ns) AS total_ns
  FROM kernel
  GROUP BY dur_ns / 1000
),
bin (from_us, below_us) AS (
  SELECT 0, 1
  UNION ALL
  SELECT below_us, 2 * below_us
  FROM bin
  WHERE below_us <= (SELECT max(dur_us) FROM whole_us)
),
filled AS MATERIALIZED (
  SELECT
    bin.from_us,
    bin.below_us,
    coalesce(sum(whole_us.kernel_count), 0) AS kernel_count,
    coalesce(sum(whole_us.total_ns), 0) AS total_ns
  FROM bin
  LEFT JOIN whole_us
    ON whole_us.dur_us >= bin.from_us
    AND whole_us.dur_us < bin.below_us
  GROUP BY bin.from_us, bin.below_us
)
SELECT
  row_number() OVER (ORDER BY from_us) AS rank,
  1000 * from_us AS from_ns,
  1000 * below_us AS below_ns,
  kernel_count,
  total_ns,
  100.0 * kernel_count / nullif(sum(kernel_count) OVER (), 0) AS count_pct,
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct
FROM filled
WHERE below_us > (SELECT min(dur_us) FROM whole_us)
ORDER BY rank
