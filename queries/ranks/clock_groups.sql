/*---
name: clock_groups
version: 1
title: Groups of clocks
summary: Which reports can be put on one clock, and how far each is from it.
why: To compare times of reports that share collectives, also if the first report has no shared collective.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [collectives, clock_steps]
across: true
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: clock_side, type: int, priority: 1, label: "clock of", doc: "Position of the report on whose clock it can be put: the first one that is at most three steps away; its own if there is none."}
  - {name: hops, type: int, priority: 2, doc: "Steps to that report: 1 if both share collectives, 2 if both share some with a third one, up to 3; 0 for itself."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 1, doc: "Such collectives that the report shares with the next one on the way; for a report that keeps its own clock, all of its own."}
  - {name: at_ns, type: timestamp, unit: ns, label: "at", priority: 2, doc: "Time of this report at which the offset holds; null if it has no such collective."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to a time of this report to get that of the other one."}
  - {name: drift, type: real, priority: 1, doc: "By how much the other clock is faster: 0.00001 is 10 ppm; a step with fewer than 32 matched collectives counts as 0."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "95 of 100 matched collectives end within plus or minus this on both clocks; the sum over the steps; 0 for itself."}
checks:
  - hops BETWEEN 0 AND 3
when_empty: "no collective of two ranks or more could be matched: -q job says why"
limits: >-
  Clocks are compared by the ends of collectives: see clock_steps. Files of several profiler cycles of one rank share no
  collective: each cycle of a job is a group of its own.
see_also: [rank_clocks, clock_steps, collective_arrivals]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
-- In both directions.
step AS MATERIALIZED (
  SELECT side, to_side, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM clock_steps
  UNION ALL
  SELECT to_side, side, collective_count, at_ns + offset_ns, -offset_ns, 1.0 / (1.0 + drift) - 1.0, uncertainty_ns
  FROM clock_steps
),
report AS MATERIALIZED (
  SELECT side, min(report) AS report
  FROM collectives
  GROUP BY side
),
-- Clocks that others are put on: those of reports that no earlier one shares a collective with.
base AS MATERIALIZED (
  SELECT side
  FROM report
  WHERE side NOT IN (SELECT side FROM clock_steps)
),
own AS (
  SELECT side, count(*) AS collective_count, CAST(median(end_ns) AS BIGINT) AS at_ns
  FROM (
    SELECT side, communicator, sequence, max(start_ns + dur_ns) AS end_ns
    FROM collectives
    WHERE dur_ns IS NOT NULL
      AND operation IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier')
    GROUP BY side, communicator, sequence
  ) AS ended
  GROUP BY side
),
one_step AS MATERIALIZED (
  SELECT side, to_side AS clock_side, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM step
  WHERE to_side IN (SELECT side FROM base)
),
two_steps AS MATERIALIZED (
  SELECT
    step.side,
    next.clock_side,
    step.collective_count,
    step.at_ns,
    step.offset_ns + next.offset_ns + next.drift * (step.at_ns + step.offset_ns - next.at_ns) AS offset_ns,
    (1.0 + step.drift) * (1.0 + next.drift) - 1.0 AS drift,
    step.uncertainty_ns + next.uncertainty_ns AS uncertainty_ns,
    row_number() OVER (
      PARTITION BY step.side, next.clock_side
      ORDER BY step.uncertainty_ns + next.uncertainty_ns, step.to_side
    ) AS choice
  FROM step
  JOIN one_step AS next
    ON next.side = step.to_side
  WHERE step.side <> next.clock_side
),
three_steps AS MATERIALIZED (
  SELECT
    step.side,
    next.clock_side,
    step.collective_count,
    step.at_ns,
    step.offset_ns + next.offset_ns + next.drift * (step.at_ns + step.offset_ns - next.at_ns) AS offset_ns,
    (1.0 + step.drift) * (1.0 + next.drift) - 1.0 AS drift,
    step.uncertainty_ns + next.uncertainty_ns AS uncertainty_ns,
    row_number() OVER (
      PARTITION BY step.side, next.clock_side
      ORDER BY step.uncertainty_ns + next.uncertainty_ns, step.to_side
    ) AS choice
  FROM step
  JOIN two_steps AS next
    ON next.side = step.to_side
    AND next.choice = 1
  WHERE step.side <> next.clock_side
),
way AS (
  SELECT
    base.side,
    base.side AS clock_side,
    0 AS hops,
    own.collective_count,
    own.at_ns,
    0.0 AS offset_ns,
    0.0 AS drift,
    0.0 AS uncertainty_ns
  FROM base
  LEFT JOIN own
    ON own.side = base.side
  UNION ALL
  SELECT side, clock_side, 1, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM one_step
  UNION ALL
  SELECT side, clock_side, 2, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM two_steps
  WHERE choice = 1
  UNION ALL
  SELECT side, clock_side, 3, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM three_steps
  WHERE choice = 1
),
chosen AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY side ORDER BY clock_side, hops) AS choice
  FROM way
)
SELECT
  report.side,
  report.report,
  coalesce(chosen.clock_side, report.side) AS clock_side,
  coalesce(chosen.hops, 0) AS hops,
  coalesce(chosen.collective_count, 0) AS collective_count,
  chosen.at_ns,
  CAST(round(coalesce(chosen.offset_ns, 0.0)) AS BIGINT) AS offset_ns,
  coalesce(chosen.drift, 0.0) AS drift,
  CAST(round(coalesce(chosen.uncertainty_ns, 0.0)) AS BIGINT) AS uncertainty_ns
FROM report
LEFT JOIN chosen
  ON chosen.side = report.side
  AND chosen.choice = 1
ORDER BY report.side
