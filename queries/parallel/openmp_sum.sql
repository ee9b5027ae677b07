/*---
name: openmp_sum
version: 1
title: OpenMP summary
summary: Time per kind and name of OpenMP event, largest total first.
why: To see what OpenMP threads wait for and which constructs take time.
kind: sum
tags: [api, sync]
reads: [openmp_event, string]
requires: [openmp_event]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of event time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all threads."}
  - {name: events, type: int, unit: count, priority: 1, doc: "Number of events."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of an event."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest event."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest event."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one event."}
  - {name: event_kind, type: text, label: "kind", priority: 0, doc: "Kind of event, such as parallel or sync_region_wait."}
  - {name: event_name, type: text, label: "event", priority: 0, doc: "Name of the event, such as Parallel."}
checks:
  - events >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no OpenMP event was recorded"
limits: >-
  A parallel region contains the events of its threads, so shares are shares of overlapping times. A name occurs once per
  kind: the barrier itself and the wait in it, for example, are two rows.
see_also: [openacc_sum, osrt_sum]
nsys:
  title: OpenMP Summary
  aliases: [openmpevtsum]
  lacks:
    - {says: "OpenMP event data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Count, sql: events}
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
    event_kind,
    name_id,
    sum(dur_ns) AS total_ns,
    count(*) AS events,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM openmp_event
  GROUP BY event_kind, name_id
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
  event_kind,
  (SELECT text FROM string WHERE string_id = name_id) AS event_name
FROM by_name
ORDER BY total_ns DESC, events DESC, event_name, event_kind, name_id
