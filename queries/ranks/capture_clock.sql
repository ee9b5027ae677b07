/*---
name: capture_clock
version: 1
title: Clock of the capture
summary: UTC at which the clock of the report is 0.
why: To find out which events of several reports happened at about the same time.
kind: info
tags: [capture]
reads: [capture]
requires: []
columns:
  - {name: utc_start_ns, type: int, unit: ns, label: "UTC at 0", priority: 0, doc: "UTC time at clock 0, in nanoseconds since 1970."}
when_empty: "the report does not record its start in UTC"
limits: >-
  The clocks of two machines can differ by milliseconds, which nothing in the reports shows.
see_also: [collective_shifts]
---*/
SELECT min(utc_start_ns) AS utc_start_ns
FROM capture
HAVING min(utc_start_ns) IS NOT NULL
