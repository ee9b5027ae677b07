/*---
name: rank_clocks
version: 1
title: Clocks of the reports
summary: How far the clock of each report is from that of the first one.
why: To compare times of several reports, and to know how exactly that can be done.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [collectives, clock_steps]
across: true
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: hops, type: int, priority: 2, doc: "1 if the report shares collectives with the first one, 2 if with another one that does, up to 3; 0 for the first one; null if it cannot be aligned."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 1, doc: "Such collectives that the report shares with the next one on the way to the first; for the first one, all of its own; 0 if it cannot be aligned."}
  - {name: at_ns, type: timestamp, unit: ns, label: "at", priority: 2, doc: "Time of this report at which the offset holds."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to a time of this report to get that of the first one; null if it cannot be aligned."}
  - {name: drift_ppm, type: real, label: "drift in ppm", priority: 1, doc: "By how many millionths the first report's clock is faster; a step with fewer than 32 matched collectives counts as 0."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "95 of 100 matched collectives end within plus or minus this on both clocks; the sum over the steps on the way to the first report; 0 for the first one."}
when_empty: "no collective was recorded"
limits: >-
  Clocks are compared by the ends of collectives: see clock_steps. A report that needs more than three steps to the first
  one is not aligned.
see_also: [clock_steps, collective_arrivals, stragglers]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
-- In both directions.
step AS (
  SELECT side, to_side, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM clock_steps
  UNION ALL
  SELECT to_side, side, collective_count, at_ns + offset_ns, -offset_ns, 1.0 / (1.0 + drift) - 1.0, uncertainty_ns
  FROM clock_steps
  LIMIT 1000000000000
),
one_step AS (
  SELECT side, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM step
  WHERE to_side = 0
  LIMIT 1000000000000
),
two_steps AS (
  SELECT
    step.side,
    step.collective_count,
    step.at_ns,
    step.offset_ns + next.offset_ns + next.drift * (step.at_ns + step.offset_ns - next.at_ns) AS offset_ns,
    (1.0 + step.drift) * (1.0 + next.drift) - 1.0 AS drift,
    step.uncertainty_ns + next.uncertainty_ns AS uncertainty_ns,
    row_number() OVER (
      PARTITION BY step.side
      ORDER BY step.uncertainty_ns + next.uncertainty_ns, step.to_side
    ) AS choice
  FROM step
  JOIN one_step AS next
    ON next.side = step.to_side
  WHERE step.side > 0
    AND step.side NOT IN (SELECT side FROM one_step)
  LIMIT 1000000000000
),
three_steps AS (
  SELECT
    step.side,
    step.collective_count,
    step.at_ns,
    step.offset_ns + next.offset_ns + next.drift * (step.at_ns + step.offset_ns - next.at_ns) AS offset_ns,
    (1.0 + step.drift) * (1.0 + next.drift) - 1.0 AS drift,
    step.uncertainty_ns + next.uncertainty_ns AS uncertainty_ns,
    row_number() OVER (
      PARTITION BY step.side
      ORDER BY step.uncertainty_ns + next.uncertainty_ns, step.to_side
    ) AS choice
  FROM step
  JOIN two_steps AS next
    ON next.side = step.to_side
    AND next.choice = 1
  WHERE step.side > 0
    AND step.side NOT IN (SELECT side FROM one_step)
    AND step.side NOT IN (SELECT side FROM two_steps)
  LIMIT 1000000000000
),
own AS (
  SELECT communicator, sequence, max(start_ns + dur_ns) AS end_ns
  FROM collectives
  WHERE side = 0
    AND dur_ns IS NOT NULL
    AND operation IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier')
  GROUP BY communicator, sequence
),
aligned AS (
  SELECT
    0 AS side,
    0 AS hops,
    count(*) AS collective_count,
    CAST(median(end_ns) AS BIGINT) AS at_ns,
    0 AS offset_ns,
    0.0 AS drift,
    0 AS uncertainty_ns
  FROM own
  UNION ALL
  SELECT side, 1, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM one_step
  UNION ALL
  SELECT side, 2, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM two_steps
  WHERE choice = 1
  UNION ALL
  SELECT side, 3, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM three_steps
  WHERE choice = 1
),
report AS (
  SELECT side, min(report) AS report
  FROM collectives
  GROUP BY side
)
SELECT
  report.side,
  report.report,
  aligned.hops,
  coalesce(aligned.collective_count, 0) AS collective_count,
  aligned.at_ns,
  CAST(round(aligned.offset_ns) AS BIGINT) AS offset_ns,
  1e6 * aligned.drift AS drift_ppm,
  CAST(round(aligned.uncertainty_ns) AS BIGINT) AS uncertainty_ns
FROM report
LEFT JOIN aligned
  ON aligned.side = report.side
ORDER BY report.side
