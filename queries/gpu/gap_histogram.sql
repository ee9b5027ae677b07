/*---
name: gap_histogram
version: 2
title: Gaps by length
summary: Histogram of the gaps between kernels of one stream.
why: To tell the many short gaps of normal launching from the few long gaps worth a look.
kind: sum
tags: [cuda, gpu, kernel]
reads: [stream_gap]
requires: [kernel]
params:
  - {name: scale, type: enum, values: [log, linear], default: log, doc: "Bins: log has bounds at 1, 2 and 5 times powers of ten; linear has bins of equal width from the shortest to the longest gap in range."}
  - {name: bins, type: int, default: 15, min: 1, max: 1000, doc: "Number of bins on the linear scale."}
  - {name: at_least, type: duration, default: 0ns, doc: "Shortest gap in range. Shorter gaps are in the row below."}
  - {name: at_most, type: duration, doc: "Longest gap in range. Longer gaps are in the row above. Default: no upper bound."}
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: part, type: text, priority: 0, doc: "Kind of row: bin, below for gaps shorter than at_least, or above for gaps longer than at_most."}
  - {name: from_ns, type: duration, unit: ns, priority: 0, doc: "Shortest gap of a bin; at_most in the row above, whose gaps are longer; null in the row below and without at_most."}
  - {name: to_ns, type: duration, unit: ns, priority: 0, doc: "Upper bound. A gap of exactly this length is in the next row, except in the last linear bin; null in the row above."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Number of gaps."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of gap durations."}
  - {name: count_pct, type: percent, unit: percent, label: "share of gaps", priority: 1, doc: "gap_count as a share of all gaps."}
  - {name: time_pct, type: percent, unit: percent, label: "share of gap time", priority: 1, doc: "total_ns as a share of the sum of all gaps."}
  - {name: upto_pct, type: percent, unit: percent, label: "cumulative share of gaps", doc: "Share of all gaps that are in this row or an earlier one."}
  - {name: p50_ns, type: duration, unit: ns, label: "median of all gaps", priority: 3, doc: "Median of all gaps, in range or not; the same in all rows."}
  - {name: p90_ns, type: duration, unit: ns, label: "p90 of all gaps", priority: 3, doc: "Length that nine of ten gaps do not exceed, in range or not; the same in all rows."}
  - {name: p99_ns, type: duration, unit: ns, label: "p99 of all gaps", priority: 3, doc: "Length that 99 of 100 gaps do not exceed, in range or not; the same in all rows."}
  - {name: max_ns, type: duration, unit: ns, label: "longest of all gaps", priority: 3, doc: "Longest gap, in range or not; the same in all rows."}
  - {name: rank, type: int, priority: 3, doc: "Position by gap length, from 1."}
checks:
  - gap_count >= 0 AND total_ns >= 0
  - part <> 'bin' OR from_ns <= to_ns
  - p50_ns <= p90_ns AND p90_ns <= p99_ns AND p99_ns <= max_ns
when_empty: "no stream has a gap between two kernels; -p memory=true also counts gaps at copies and fills"
limits: >-
  These are gaps of streams, not of the GPU: during a gap of one stream, other streams may run work. All rows together
  hold every gap. The rows below and above are always present, unless the report has no gaps. If all gaps in range have
  the same length, there is one linear bin.
see_also: [stream_gaps, gap_pairs]
---*/
WITH RECURSIVE
gap AS MATERIALIZED (
  SELECT
    dur_ns,
    CASE
      WHEN dur_ns < :at_least THEN 'below'
      WHEN dur_ns > :at_most THEN 'above'
      ELSE 'bin'
    END AS part
  FROM stream_gap
  WHERE among = iif(:memory, 'op', 'kernel')
),
whole AS MATERIALIZED (
  SELECT
    count(*) AS gap_count,
    sum(dur_ns) AS total_ns,
    median(dur_ns) AS p50_ns,
    percentile(dur_ns, 90) AS p90_ns,
    percentile(dur_ns, 99) AS p99_ns,
    max(dur_ns) AS max_ns
  FROM gap
),
range AS MATERIALIZED (
  SELECT least_ns, most_ns, iif(least_ns = most_ns, 1, :bins) AS bins
  FROM (
    SELECT min(dur_ns) AS least_ns, max(dur_ns) AS most_ns
    FROM gap
    WHERE part = 'bin'
  )
),
-- On the log scale the digits of a gap give its bin: three bins per number of digits, from 1, from 2 and from 5.
placed AS (
  SELECT
    gap.part,
    gap.dur_ns,
    CASE
      WHEN gap.part <> 'bin' THEN NULL
      WHEN :scale = 'log' THEN
        3 * (length(gap.dur_ns) - 1)
          + (substr(gap.dur_ns, 1, 1) >= '2')
          + (substr(gap.dur_ns, 1, 1) >= '5')
      WHEN range.bins = 1 THEN 0
      ELSE
        min(
          range.bins - 1,
          CAST((gap.dur_ns - range.least_ns) * range.bins / (range.most_ns - range.least_ns) AS INTEGER)
        )
    END AS bin
  FROM gap
  CROSS JOIN range
),
filled AS MATERIALIZED (
  SELECT part, bin, count(*) AS gap_count, sum(dur_ns) AS total_ns
  FROM placed
  GROUP BY part, bin
),
bound AS (
  SELECT
    iif(:scale = 'log', min(filled.bin), 0) AS first_bin,
    iif(:scale = 'log', max(filled.bin), max(range.bins) - 1) AS last_bin
  FROM filled
  CROSS JOIN range
  WHERE filled.part = 'bin'
),
bin AS (
  SELECT first_bin AS bin, last_bin
  FROM bound
  WHERE first_bin IS NOT NULL
  UNION ALL
  SELECT bin + 1, last_bin
  FROM bin
  WHERE bin < last_bin
),
row AS (
  SELECT 1 AS place, 'below' AS part, NULL AS bin, NULL AS from_ns, :at_least AS to_ns
  UNION ALL
  SELECT
    2,
    'bin',
    bin.bin,
    CASE :scale
      WHEN 'log' THEN
        CAST(substr('125', bin.bin % 3 + 1, 1) || substr('000000000000000000', 1, bin.bin / 3) AS INTEGER)
      ELSE range.least_ns + 1.0 * (range.most_ns - range.least_ns) * bin.bin / range.bins
    END,
    CASE :scale
      WHEN 'log' THEN
        CAST(
          substr('125', (bin.bin + 1) % 3 + 1, 1) || substr('0000000000000000000', 1, (bin.bin + 1) / 3) AS INTEGER
        )
      ELSE range.least_ns + 1.0 * (range.most_ns - range.least_ns) * (bin.bin + 1) / range.bins
    END
  FROM bin
  CROSS JOIN range
  UNION ALL
  SELECT 3, 'above', NULL, :at_most, NULL
),
counted AS (
  SELECT
    row.*,
    coalesce(filled.gap_count, 0) AS gap_count,
    coalesce(filled.total_ns, 0) AS total_ns
  FROM row
  LEFT JOIN filled
    ON filled.part = row.part
    AND filled.bin IS NOT DISTINCT FROM row.bin
)
SELECT
  counted.part,
  counted.from_ns,
  counted.to_ns,
  counted.gap_count,
  counted.total_ns,
  100.0 * counted.gap_count / whole.gap_count AS count_pct,
  100.0 * counted.total_ns / nullif(whole.total_ns, 0) AS time_pct,
  100.0 * sum(counted.gap_count) OVER (ORDER BY counted.place, counted.bin) / whole.gap_count AS upto_pct,
  whole.p50_ns,
  whole.p90_ns,
  whole.p99_ns,
  whole.max_ns,
  row_number() OVER (ORDER BY counted.place, counted.bin) AS rank
FROM counted
CROSS JOIN whole
WHERE whole.gap_count > 0
ORDER BY rank
