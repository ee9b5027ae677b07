/*---
name: clock_steps
version: 1
title: Steps between clocks
summary: How far the clock of each report is from that of another one.
why: To put times of all reports on one clock, step by step.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [collectives, collective_shifts]
across: true
columns:
  - {name: side, type: int, priority: 0, doc: "Position of the report, from 0."}
  - {name: to_side, type: int, priority: 0, doc: "Position of the other one: the first report that has the same collectives."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 1, doc: "Such collectives that both reports have."}
  - {name: at_ns, type: timestamp, unit: ns, label: "at", priority: 1, doc: "Time of the report at which the offset holds: the median of these collectives' ends."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to a time of the report to get that of the other one: the median difference of the ends."}
  - {name: drift, type: real, priority: 2, doc: "By how much the other clock is faster: 0.00001 is 10 ppm. The median slope between sixteenths of the ends; 0 with fewer than 32 collectives."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "95 of 100 of these collectives end within plus or minus this on both clocks."}
when_empty: "no two reports have a collective in common"
limits: >-
  All ranks of an all-reduce, all-gather, reduce-scatter or all-to-all end it nearly together. Guessed collectives count
  only if both reports have as many or a row in collective_shifts, at least three, share no known ones, and end them together: uncertainty_ns is at most
  half of the median length of the kernels. Else kernels are missing, or their order differs. If several guessed
  communicators fit, the best one counts. None counts where ranks have as many other collectives, but other numbers of
  SendRecvs: they are stages of a pipeline.
see_also: [rank_clocks, collectives]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
ended AS MATERIALIZED (
  SELECT
    collectives.side,
    collectives.communicator,
    -- As the first report counts that has the communicator.
    collectives.sequence + coalesce(moved.shift, 0) AS sequence,
    max(collectives.start_ns + collectives.dur_ns) AS end_ns,
    max(collectives.dur_ns) AS dur_ns,
    min(CASE WHEN collectives.source = 'guess' THEN 0 ELSE 1 END) AS is_known,
    max(CASE WHEN collectives.operation = 'SendRecv' THEN 1 ELSE 0 END) AS is_exchange,
    CASE WHEN max(moved.shift) IS NULL THEN 0 ELSE 1 END AS is_placed,
    count(*) OVER (PARTITION BY collectives.side, collectives.communicator) AS own_count
  FROM collectives
  LEFT JOIN collective_shifts AS moved
    ON moved.side = collectives.side
    AND moved.communicator = collectives.communicator
  WHERE collectives.dur_ns IS NOT NULL
    -- The root of a broadcast can end long before the others.
    AND collectives.operation IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier', 'SendRecv')
  GROUP BY collectives.side, collectives.communicator, collectives.sequence + coalesce(moved.shift, 0)
),
exchange AS MATERIALIZED (
  SELECT side, count(*) AS exchange_count
  FROM ended
  WHERE is_known = 0
    AND is_exchange = 1
  GROUP BY side
),
-- Ranks with as many collectives, but other numbers of exchanges, are stages of a pipeline. Each stage has its own
-- collectives, and their order says nothing about other stages.
stage AS MATERIALIZED (
  SELECT max(CASE WHEN least_count < most_count THEN 1 ELSE 0 END) AS is_staged
  FROM (
    SELECT own.communicator, min(exchange.exchange_count) AS least_count, max(exchange.exchange_count) AS most_count
    FROM (
      SELECT DISTINCT side, communicator, own_count
      FROM ended
      WHERE is_known = 0
        AND is_exchange = 0
    ) AS own
    JOIN exchange
      ON exchange.side = own.side
    GROUP BY own.communicator, own.own_count
  ) AS counted
  LIMIT 1
),
-- Per collective, not per communicator: a rank may have several reports, each with later collectives.
leader AS MATERIALIZED (
  SELECT communicator, sequence, min(side) AS side
  FROM ended
  GROUP BY communicator, sequence
),
pair AS MATERIALIZED (
  SELECT
    ended.side,
    first.side AS to_side,
    -- Known collectives together; guessed ones by communicator, since some may be of other ranks.
    CASE WHEN ended.is_known = 1 THEN '' ELSE ended.communicator END AS basis_id,
    ended.end_ns AS at_ns,
    first.end_ns - ended.end_ns AS apart_ns,
    ended.is_known,
    CASE WHEN ended.dur_ns < first.dur_ns THEN ended.dur_ns ELSE first.dur_ns END AS dur_ns,
    ntile(16) OVER (
      PARTITION BY ended.side, first.side, CASE WHEN ended.is_known = 1 THEN '' ELSE ended.communicator END
      ORDER BY ended.end_ns
    ) AS bin,
    count(*) OVER (
      PARTITION BY ended.side, first.side, CASE WHEN ended.is_known = 1 THEN '' ELSE ended.communicator END
    ) AS collective_count
  FROM ended
  JOIN leader
    ON leader.communicator = ended.communicator
    AND leader.sequence = ended.sequence
    AND leader.side < ended.side
  JOIN ended AS first
    ON first.communicator = ended.communicator
    AND first.sequence = ended.sequence
    AND first.side = leader.side
    -- The order of kernels counts only if none is missing, or if the ends show which place is which.
    AND (ended.is_known = 1 OR ended.is_placed = 1 OR first.own_count = ended.own_count)
),
bin AS MATERIALIZED (
  SELECT side, to_side, basis_id, bin, median(at_ns) AS at_ns, median(apart_ns) AS apart_ns
  FROM pair
  WHERE collective_count >= 32
  GROUP BY side, to_side, basis_id, bin
),
slope AS (
  SELECT a.side, a.to_side, a.basis_id, median((b.apart_ns - a.apart_ns) / (b.at_ns - a.at_ns)) AS slope
  FROM bin AS a
  JOIN bin AS b
    ON b.side = a.side
    AND b.to_side = a.to_side
    AND b.basis_id = a.basis_id
    AND b.at_ns > a.at_ns
  GROUP BY a.side, a.to_side, a.basis_id
),
center AS MATERIALIZED (
  SELECT
    pair.side,
    pair.to_side,
    pair.basis_id,
    CAST(median(pair.at_ns) AS BIGINT) AS at_ns,
    coalesce(max(slope.slope), 0.0) AS slope
  FROM pair
  LEFT JOIN slope
    ON slope.side = pair.side
    AND slope.to_side = pair.to_side
    AND slope.basis_id = pair.basis_id
  GROUP BY pair.side, pair.to_side, pair.basis_id
),
fitted AS MATERIALIZED (
  SELECT
    pair.side,
    pair.to_side,
    pair.basis_id,
    max(pair.collective_count) AS collective_count,
    center.at_ns,
    center.slope,
    median(pair.apart_ns - center.slope * (pair.at_ns - center.at_ns)) AS offset_ns
  FROM pair
  JOIN center
    ON center.side = pair.side
    AND center.to_side = pair.to_side
    AND center.basis_id = pair.basis_id
  GROUP BY pair.side, pair.to_side, pair.basis_id, center.at_ns, center.slope
),
residual AS MATERIALIZED (
  SELECT
    pair.side,
    pair.to_side,
    pair.basis_id,
    min(pair.is_known) AS is_known,
    median(pair.dur_ns) AS dur_ns,
    percentile(abs(pair.apart_ns - fitted.offset_ns - fitted.slope * (pair.at_ns - fitted.at_ns)), 95) AS uncertainty_ns
  FROM pair
  JOIN fitted
    ON fitted.side = pair.side
    AND fitted.to_side = pair.to_side
    AND fitted.basis_id = pair.basis_id
  GROUP BY pair.side, pair.to_side, pair.basis_id
),
chosen AS (
  SELECT
    fitted.side,
    fitted.to_side,
    fitted.basis_id,
    fitted.collective_count,
    fitted.at_ns,
    fitted.offset_ns,
    fitted.slope,
    residual.uncertainty_ns,
    row_number() OVER (
      PARTITION BY fitted.side, fitted.to_side
      ORDER BY residual.is_known DESC, residual.uncertainty_ns, fitted.basis_id
    ) AS choice
  FROM fitted
  JOIN residual
    ON residual.side = fitted.side
    AND residual.to_side = fitted.to_side
    AND residual.basis_id = fitted.basis_id
  CROSS JOIN stage
  -- The evidence for a guess: all ranks end a collective together.
  WHERE residual.is_known = 1
    OR (
      fitted.collective_count >= 3
      AND 2 * residual.uncertainty_ns <= residual.dur_ns
      AND coalesce(stage.is_staged, 0) = 0
    )
)
SELECT
  side,
  to_side,
  collective_count,
  at_ns,
  CAST(round(offset_ns) AS BIGINT) AS offset_ns,
  slope AS drift,
  CAST(round(uncertainty_ns) AS BIGINT) AS uncertainty_ns
FROM chosen
WHERE choice = 1
ORDER BY side, to_side, basis_id
