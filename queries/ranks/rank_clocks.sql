/*---
name: rank_clocks
version: 1
title: Clocks of the reports
summary: How far the clock of each report is from that of the first one.
why: To compare times of several reports, and to know how exactly that can be done.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [collectives]
across: true
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 1, doc: "Such collectives that this report and the first one have; for the first one, all of its own."}
  - {name: at_ns, type: timestamp, unit: ns, label: "at", priority: 2, doc: "Time of this report at which the offset holds."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to a time of this report to get that of the first one; null if they share no collective."}
  - {name: drift_ppm, type: real, label: "drift in ppm", priority: 1, doc: "By how many millionths the first report's clock is faster; 0 with fewer than 32 matched collectives."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "95 of 100 matched collectives end within plus or minus this on both clocks; 0 for the first report."}
when_empty: "no collective was recorded"
limits: >-
  All ranks of an all-reduce, all-gather, reduce-scatter or all-to-all end it nearly together: the offset is the median
  difference of these ends, and the drift the median slope between sixteenths of them. A report that shares no such
  collective with the first one is not aligned.
see_also: [collective_arrivals, stragglers]
---*/
-- LIMIT -1 makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
ended AS (
  SELECT
    side,
    report,
    communicator,
    sequence,
    max(start_ns + dur_ns) AS end_ns,
    min(iif(source = 'guess', 0, 1)) AS is_known,
    count(*) OVER (PARTITION BY side, communicator) AS own_count
  FROM collectives
  WHERE dur_ns IS NOT NULL
    -- The root of a broadcast can end long before the others.
    AND operation IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier')
  GROUP BY side, report, communicator, sequence
  LIMIT -1
),
pair AS (
  SELECT
    ended.side,
    ended.report,
    ended.end_ns AS at_ns,
    first.end_ns - ended.end_ns AS apart_ns,
    ntile(16) OVER (PARTITION BY ended.side ORDER BY ended.end_ns) AS bin,
    count(*) OVER (PARTITION BY ended.side) AS collective_count
  FROM ended
  JOIN ended AS first
    ON first.communicator = ended.communicator
    AND first.sequence = ended.sequence
    AND first.side = 0
    -- The order of kernels tells only if none is missing.
    AND (ended.is_known OR first.own_count = ended.own_count)
  LIMIT -1
),
bin AS (
  SELECT side, bin, median(at_ns) AS at_ns, median(apart_ns) AS apart_ns
  FROM pair
  WHERE collective_count >= 32
  GROUP BY side, bin
  LIMIT -1
),
slope AS (
  SELECT a.side, median((b.apart_ns - a.apart_ns) / (b.at_ns - a.at_ns)) AS slope
  FROM bin AS a
  JOIN bin AS b
    ON b.side = a.side
    AND b.at_ns > a.at_ns
  GROUP BY a.side
),
center AS (
  SELECT pair.side, CAST(median(pair.at_ns) AS INTEGER) AS at_ns, coalesce(max(slope.slope), 0.0) AS slope
  FROM pair
  LEFT JOIN slope
    ON slope.side = pair.side
  GROUP BY pair.side
),
fitted AS (
  SELECT
    pair.side,
    max(pair.collective_count) AS collective_count,
    center.at_ns,
    center.slope,
    median(pair.apart_ns - center.slope * (pair.at_ns - center.at_ns)) AS offset_ns
  FROM pair
  JOIN center
    ON center.side = pair.side
  GROUP BY pair.side, center.at_ns, center.slope
),
residual AS (
  SELECT
    pair.side,
    percentile(abs(pair.apart_ns - fitted.offset_ns - fitted.slope * (pair.at_ns - fitted.at_ns)), 95) AS uncertainty_ns
  FROM pair
  JOIN fitted
    ON fitted.side = pair.side
  GROUP BY pair.side
),
report AS (
  SELECT DISTINCT side, report
  FROM collectives
)
SELECT
  report.side,
  report.report,
  coalesce(fitted.collective_count, 0) AS collective_count,
  fitted.at_ns,
  CAST(round(fitted.offset_ns) AS INTEGER) AS offset_ns,
  1e6 * fitted.slope AS drift_ppm,
  CAST(round(residual.uncertainty_ns) AS INTEGER) AS uncertainty_ns
FROM report
LEFT JOIN fitted
  ON fitted.side = report.side
LEFT JOIN residual
  ON residual.side = report.side
ORDER BY report.side
