/*---
name: openacc_sum
version: 1
title: OpenACC summary
summary: Time per OpenACC event and line of source, largest total first.
why: To find the OpenACC directives that take time.
kind: sum
tags: [api]
reads: [openacc_event, string]
requires: [openacc_event]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of event time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all threads."}
  - {name: events, type: int, unit: count, priority: 1, doc: "Number of events."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of an event."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest event."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest event."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one event."}
  - {name: event_name, type: text, label: "event", priority: 0, doc: "Name of the event with file and line of its directive, such as Enter Data@solver.c:12; only the name if the file is unknown."}
checks:
  - events >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no OpenACC event was recorded"
limits: >-
  Events contain each other, such as a data region its copies, so shares are shares of overlapping times.
see_also: [openmp_sum, cuda_api_sum]
nsys:
  title: OpenACC Summary
  aliases: [openaccsum]
  lacks:
    - {says: "OpenACC event data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Num Calls, sql: events}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Name, sql: event_name}
---*/
WITH
by_name AS (
  SELECT
    name_id,
    file_id,
    CASE WHEN file_id IS NOT NULL THEN line END AS file_line,
    sum(dur_ns) AS total_ns,
    count(*) AS events,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM openacc_event
  GROUP BY 1, 2, 3
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  events,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  (SELECT text FROM string WHERE string_id = name_id)
    || coalesce('@' || (SELECT text FROM string WHERE string_id = file_id) || ':' || file_line, '') AS event_name
FROM by_name
ORDER BY total_ns DESC, events DESC, event_name, name_id, file_id, file_line
