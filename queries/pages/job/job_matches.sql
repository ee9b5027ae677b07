/*---
name: job_matches
version: 2
title: How collectives are matched
summary: Collectives that are matched over ranks, how, and what speaks for it.
why: To know how far the waits of ranks can be trusted.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [collective_arrivals, collectives]
across: true
columns:
  - {name: source, type: text, priority: 0, doc: "payload of NCCL, trace of PyTorch, or guess from the order of kernels on a stream."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another; SendRecv, as in collective_op."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Kernels of these collectives in all reports."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Processes that ran them."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 0, doc: "Collectives that at least two ranks ran and agree in."}
  - {name: matched_rank_count, type: int, unit: count, label: "ranks matched", priority: 1, doc: "Processes that are in these."}
  - {name: shifted_rank_count, type: int, unit: count, label: "ranks shifted", priority: 1, doc: "Those whose captures begin at another collective than that of the first report, as in collective_shifts."}
  - {name: overlap_count, type: int, unit: count, label: "run at the same time", priority: 1, doc: "Those in which no rank ended before the last one began."}
  - {name: ends_within_ns, type: duration, unit: ns, label: "end within", priority: 1, doc: "95 of 100 of these collectives end on all ranks within this time; null if none is matched."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "Largest uncertainty of the difference between clocks; null if none is matched."}
when_empty: "no collective was recorded"
limits: >-
  A kernel of a guess that is not matched has its place in the order of its stream, but the ranks do not run or end it
  together, or have other counts: kernels are missing, or ranks call others.
see_also: [collective_arrivals, clock_groups]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
ran AS MATERIALIZED (
  SELECT source, operation, count(*) AS kernel_count
  FROM collectives
  WHERE start_ns IS NOT NULL
  GROUP BY source, operation
),
runner AS MATERIALIZED (
  SELECT source, operation, count(*) AS rank_count
  FROM (
    SELECT DISTINCT source, operation, side, pid, gpu_id
    FROM collectives
    WHERE start_ns IS NOT NULL
  ) AS process
  GROUP BY source, operation
),
matched AS MATERIALIZED (
  SELECT
    source,
    operation,
    communicator,
    sequence,
    max(start_ns) AS last_start_ns,
    min(start_ns + dur_ns) AS first_end_ns,
    max(start_ns + dur_ns) AS last_end_ns,
    max(uncertainty_ns) AS uncertainty_ns
  FROM collective_arrivals
  WHERE agrees
    AND seen_count > 1
  GROUP BY source, operation, communicator, sequence
),
matcher AS MATERIALIZED (
  SELECT source, operation, count(*) AS rank_count, sum(is_shifted) AS shifted_rank_count
  FROM (
    SELECT
      source,
      operation,
      side,
      pid,
      member,
      max(CASE WHEN own_sequence <> sequence THEN 1 ELSE 0 END) AS is_shifted
    FROM collective_arrivals
    WHERE agrees
      AND seen_count > 1
    GROUP BY source, operation, side, pid, member
  ) AS process
  GROUP BY source, operation
),
summed AS MATERIALIZED (
  SELECT
    source,
    operation,
    count(*) AS collective_count,
    sum(CASE WHEN last_start_ns <= first_end_ns THEN 1 ELSE 0 END) AS overlap_count,
    CAST(percentile(last_end_ns - first_end_ns, 95) AS BIGINT) AS ends_within_ns,
    max(uncertainty_ns) AS uncertainty_ns
  FROM matched
  GROUP BY source, operation
)
SELECT
  ran.source,
  ran.operation,
  ran.kernel_count,
  runner.rank_count,
  coalesce(summed.collective_count, 0) AS collective_count,
  coalesce(matcher.rank_count, 0) AS matched_rank_count,
  coalesce(matcher.shifted_rank_count, 0) AS shifted_rank_count,
  coalesce(summed.overlap_count, 0) AS overlap_count,
  summed.ends_within_ns,
  summed.uncertainty_ns
FROM ran
JOIN runner
  ON runner.source = ran.source
  AND runner.operation = ran.operation
LEFT JOIN matcher
  ON matcher.source = ran.source
  AND matcher.operation = ran.operation
LEFT JOIN summed
  ON summed.source = ran.source
  AND summed.operation = ran.operation
ORDER BY ran.kernel_count DESC, ran.source, ran.operation
