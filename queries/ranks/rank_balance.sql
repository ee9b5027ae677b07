/*---
name: rank_balance
version: 2
title: Balance of the ranks
summary: Smallest, median and largest of each measure over ranks, and which rank it is.
why: To see whether the ranks do the same work, and which one differs.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [rank_measures]
across: true
columns:
  - {name: measure, type: text, priority: 0, doc: "What was measured, as in rank_measures."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks that have the measure: GPUs of all reports."}
  - {name: min_ns, type: duration, unit: ns, label: "smallest", priority: 1, doc: "Smallest time."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 0, doc: "Median of the times."}
  - {name: max_ns, type: duration, unit: ns, label: "largest", priority: 0, doc: "Largest time."}
  - {name: min_rank, type: int, label: "rank of the smallest", priority: 1, doc: "Rank with the smallest time; null if it is unknown."}
  - {name: max_rank, type: int, label: "rank of the largest", priority: 0, doc: "Rank with the largest time; null if it is unknown."}
  - {name: excess_ns, type: duration, unit: ns, label: "largest above median", priority: 1, doc: "max_ns - median_ns."}
  - {name: variation_pct, type: percent, unit: percent, label: "variation", priority: 1, doc: "Coefficient of variation: standard deviation over the ranks as a share of the mean. A rank without the measure counts as 0."}
  - {name: max_report, type: text, label: "report of the largest", priority: 2, doc: "Report with the largest time."}
  - {name: max_gpu_id, type: id, label: "GPU of the largest", priority: 2, doc: "GPU of that report."}
checks:
  - min_ns <= median_ns AND median_ns <= max_ns
when_empty: "no GPU operation was recorded"
limits: >-
  A rank waits for others inside its communication kernels, so a rank with little communication may be the slow one.
  Times of captures of different length cannot be compared; compare the iterations.
see_also: [rank_measures, stragglers, straggler_causes]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
member AS MATERIALIZED (
  SELECT
    side,
    report,
    gpu_id,
    max(rank) AS rank
  FROM rank_measures
  GROUP BY side, report, gpu_id
),
measured AS MATERIALIZED (
  SELECT
    member.side,
    member.report,
    member.gpu_id,
    member.rank,
    named.measure,
    coalesce(own.value_ns, 0) AS value_ns
  FROM member
  CROSS JOIN (SELECT DISTINCT measure FROM rank_measures) AS named
  LEFT JOIN rank_measures AS own
    ON own.side = member.side
    AND own.gpu_id = member.gpu_id
    AND own.measure = named.measure
),
placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY measure ORDER BY value_ns, rank NULLS FIRST, side, gpu_id) AS from_smallest,
    row_number() OVER (PARTITION BY measure ORDER BY value_ns DESC, rank NULLS FIRST, side, gpu_id) AS from_largest
  FROM measured
)
SELECT
  measure,
  count(*) AS rank_count,
  min(value_ns) AS min_ns,
  CAST(median(value_ns) AS BIGINT) AS median_ns,
  max(value_ns) AS max_ns,
  max(CASE WHEN from_smallest = 1 THEN rank END) AS min_rank,
  max(CASE WHEN from_largest = 1 THEN rank END) AS max_rank,
  max(value_ns) - CAST(median(value_ns) AS BIGINT) AS excess_ns,
  100.0 * stddev(value_ns) / nullif(avg(value_ns), 0) AS variation_pct,
  max(CASE WHEN from_largest = 1 THEN report END) AS max_report,
  max(CASE WHEN from_largest = 1 THEN gpu_id END) AS max_gpu_id
FROM placed
GROUP BY measure
ORDER BY excess_ns DESC, measure
