/*---
name: rank_clocks
version: 1
title: Clocks of the reports
summary: How far the clock of each report is from that of the first one.
why: To compare times of several reports, and to know how exactly that can be done.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [clock_groups]
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
when_empty: "no collective of two ranks or more could be matched: -q job says why"
limits: >-
  Clocks are compared by the ends of collectives: see clock_steps. A report that needs more than three steps to the first
  one is not aligned.
see_also: [clock_groups, clock_steps, collective_arrivals, stragglers]
---*/
WITH
-- Those that can be put on the clock of the first report.
aligned AS (
  SELECT side, hops, collective_count, at_ns, offset_ns, drift, uncertainty_ns
  FROM clock_groups
  WHERE clock_side = 0
),
report AS (
  SELECT side, min(report) AS report
  FROM clock_groups
  GROUP BY side
)
SELECT
  report.side,
  report.report,
  aligned.hops,
  coalesce(aligned.collective_count, 0) AS collective_count,
  aligned.at_ns,
  aligned.offset_ns,
  1e6 * aligned.drift AS drift_ppm,
  aligned.uncertainty_ns
FROM report
LEFT JOIN aligned
  ON aligned.side = report.side
ORDER BY report.side
