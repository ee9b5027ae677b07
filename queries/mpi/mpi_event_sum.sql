/*---
name: mpi_event_sum
version: 1
title: MPI event summary
summary: Time per MPI function and kind of call, largest total first.
why: To see which MPI functions take the time of the ranks.
kind: sum
tags: [mpi]
reads: [mpi_event]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of MPI time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all ranks."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one call."}
  - {name: mpi_kind, type: text, label: "kind", priority: 1, doc: "Kind of call: p2p, collective, start_wait or other."}
  - {name: mpi_name, type: text, label: "MPI function", priority: 0, doc: "Function name, such as MPI_Allreduce."}
checks:
  - calls >= 1
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no MPI call was recorded"
limits: >-
  A call with several rows in the export, such as MPI_Waitall or MPI_Sendrecv, counts once. NVIDIA's report of this name,
  in versions after 2023.4, was not compared: only its columns are documented.
see_also: [mpi_event_trace, mpi_msg_size_sum]
nsys:
  title: MPI Event Summary
  lacks:
    - {says: "MPI event data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Source, sql: mpi_kind}
    - {name: Name, sql: mpi_name}
---*/
WITH
-- A call that waits for several requests has several rows with the same times. A call that receives what it does not
-- send has two rows with the same start: the row of the sent message has no length.
call AS (
  SELECT mpi_kind, mpi_name, max(dur_ns) AS dur_ns
  FROM mpi_event
  GROUP BY global_tid, start_ns, mpi_kind, mpi_name
),
by_name AS (
  SELECT
    mpi_kind,
    mpi_name,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM call
  GROUP BY mpi_kind, mpi_name
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  mpi_kind,
  mpi_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, mpi_name, mpi_kind
