/*---
name: timeline_starts
version: 1
title: Starts of the timeline
summary: Where each report is put next to the first one without collectives.
why: To draw reports over one axis that share no collective.
kind: info
tags: [capture]
internal: true
reads: []
asks: [timeline_bounds]
across: true
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: placed_by, type: text, label: "placed by", priority: 1, doc: "How it is placed: first (it is the first report), wall clock (by UTC at its 0), start (its first event is put at the first event of the first report), or none (its times are unchanged, because one of both has no lane)."}
  - {name: offset_ns, type: duration, unit: ns, label: "offset", priority: 1, doc: "What must be added to a time of this report to get that of the first one."}
  - {name: apart_ns, type: int, unit: ns, label: "UTC apart", priority: 2, doc: "UTC at its 0, from UTC at 0 of the first report; null if one is unknown."}
  - {name: is_limited, type: bool, label: "limited", priority: 3, doc: "Whether --time limits the reports."}
when_empty: "no event is in the scope"
limits: >-
  The clocks of two machines can differ by milliseconds, which nothing in the reports shows. The wall clock counts only if both captures
  overlap, or are no farther apart than the longer one lasts.
see_also: [timeline_bounds, timeline_clocks]
---*/
WITH
own AS MATERIALIZED (
  SELECT
    side,
    min(report) AS report,
    min(from_ns) AS from_ns,
    max(to_ns) AS to_ns,
    min(utc_start_ns) AS utc_start_ns
  FROM timeline_bounds
  GROUP BY side
),
first AS (
  SELECT side, from_ns, to_ns, utc_start_ns
  FROM own
  WHERE side = (SELECT min(side) FROM own)
),
compared AS (
  SELECT
    own.side,
    own.report,
    own.side = first.side AS is_first,
    own.utc_start_ns - first.utc_start_ns AS apart_ns,
    first.from_ns - own.from_ns AS to_start_ns,
    -- The time between both captures by the wall clock; below 0 if they overlap.
    max(
      own.from_ns + (own.utc_start_ns - first.utc_start_ns) - first.to_ns,
      first.from_ns - own.to_ns - (own.utc_start_ns - first.utc_start_ns)
    ) AS gap_ns,
    max(own.to_ns - own.from_ns, first.to_ns - first.from_ns) AS longer_ns
  FROM own
  CROSS JOIN first
)
SELECT
  side,
  report,
  CASE
    WHEN is_first THEN 'first'
    WHEN gap_ns <= longer_ns THEN 'wall clock'
    WHEN to_start_ns IS NOT NULL THEN 'start'
    ELSE 'none'
  END AS placed_by,
  CASE
    WHEN is_first THEN 0
    WHEN gap_ns <= longer_ns THEN apart_ns
    ELSE coalesce(to_start_ns, 0)
  END AS offset_ns,
  apart_ns,
  EXISTS (SELECT 1 FROM timeline_bounds WHERE is_limited) AS is_limited
FROM compared
ORDER BY side
