/*---
name: timeline_clocks
version: 1
title: Clocks of the timeline
summary: How the times of each report are put on the clock of the first one.
why: To draw several reports over one axis, and to say how exact that is.
kind: info
tags: [communication, gpu, nvtx]
internal: true
reads: []
asks: [clock_groups, timeline_starts]
across: true
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: clock_side, type: int, priority: 3, doc: "Position of the report on whose clock matched collectives put it; its own without any."}
  - {name: clock_report, type: text, label: "clock of", priority: 1, doc: "Name of that report."}
  - {name: placed_by, type: text, label: "placed by", priority: 1, doc: "How that clock is placed, as in timeline_starts: first (it is the clock of the page), wall clock, start or none."}
  - {name: hops, type: int, priority: 2, doc: "Steps to that report, as in clock_groups."}
  - {name: collective_count, type: int, unit: count, label: "matched collectives", priority: 1, doc: "Collectives that the report shares with the next one on the way; null if it keeps its own clock."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 1, doc: "95 of 100 matched collectives end within plus or minus this on both clocks; null if it keeps its own clock."}
  - {name: at_ns, type: timestamp, unit: ns, label: "at", priority: 2, doc: "Time of this report at which offset_ns holds."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to at_ns to get the time on the clock of the page."}
  - {name: drift, type: real, priority: 2, doc: "By how much the clock of the page is faster: a time t is at t + offset_ns + drift * (t - at_ns)."}
  - {name: apart_ns, type: int, unit: ns, label: "UTC apart", priority: 3, doc: "UTC at 0 of that clock, from UTC at 0 of the first report; null if one is unknown."}
  - {name: is_limited, type: bool, label: "limited", priority: 3, doc: "Whether --time limits the reports, and with them the collectives that can be matched."}
checks:
  - uncertainty_ns IS NULL OR uncertainty_ns >= 0
when_empty: "no event is in the scope"
limits: A report without lanes that is not on the clock of another one keeps its times. See clock_groups and timeline_starts.
see_also: [clock_groups, timeline_starts]
---*/
WITH
-- Each report, and the first one whose clock collectives put it on.
own AS (
  SELECT
    starts.side,
    starts.report,
    coalesce(groups.clock_side, starts.side) AS clock_side,
    coalesce(groups.hops, 0) AS hops,
    groups.collective_count,
    coalesce(groups.at_ns, 0) AS at_ns,
    coalesce(groups.offset_ns, 0) AS offset_ns,
    coalesce(groups.drift, 0.0) AS drift,
    groups.uncertainty_ns
  FROM timeline_starts AS starts
  LEFT JOIN clock_groups AS groups
    ON groups.side = starts.side
)
SELECT
  own.side,
  own.report,
  own.clock_side,
  base.report AS clock_report,
  base.placed_by,
  own.hops,
  iif(own.hops > 0, own.collective_count, NULL) AS collective_count,
  iif(own.hops > 0, own.uncertainty_ns, NULL) AS uncertainty_ns,
  own.at_ns,
  own.offset_ns + base.offset_ns AS offset_ns,
  own.drift,
  base.apart_ns,
  base.is_limited
FROM own
JOIN timeline_starts AS base
  ON base.side = own.clock_side
ORDER BY own.side
