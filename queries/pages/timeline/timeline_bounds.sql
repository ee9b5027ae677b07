/*---
name: timeline_bounds
version: 1
title: Bounds of the timeline
summary: From when to when the lanes of the timeline go, and when its clock was 0.
why: To place reports next to each other that share no collective.
kind: info
tags: [capture]
internal: true
reads: [capture, scope, timeline_lane]
requires: [capture | timeline_event]
columns:
  - {name: from_ns, type: timestamp, unit: ns, label: "start", priority: 0, doc: "Start of the first piece, as in timeline_lanes; null without lanes."}
  - {name: to_ns, type: timestamp, unit: ns, label: "end", priority: 0, doc: "End of the last piece; null without lanes."}
  - {name: utc_start_ns, type: int, unit: ns, label: "UTC at 0", priority: 1, doc: "UTC time at clock 0, in nanoseconds since 1970; null if unknown."}
  - {name: is_limited, type: bool, label: "limited", priority: 2, doc: "Whether --time leaves out a part of the report."}
checks:
  - to_ns IS NULL OR to_ns >= from_ns
limits: Without the times of hardware metrics and of memory.
see_also: [timeline_starts]
---*/
SELECT
  min(from_ns) AS from_ns,
  max(to_ns) AS to_ns,
  (SELECT min(utc_start_ns) FROM capture) AS utc_start_ns,
  (SELECT start_ns IS NOT NULL OR end_ns IS NOT NULL FROM scope) AS is_limited
FROM timeline_lane
ORDER BY from_ns
