/*---
name: mpi_gpu_time_util_map
version: 1
title: MPI or UCX calls and GPU work over time
summary: Share of each piece of time in which a process was in MPI or UCX, or used a GPU.
why: To see whether the GPU works while the host communicates, or waits for it.
kind: sum
tags: [communication, gpu, mpi]
reads: [gpu_busy, mpi_call, mpi_event, ucx_call]
requires: [mpi_call | ucx_call]
params:
  - {name: library, type: enum, values: [any, mpi, ucx], default: any, doc: "Calls that count: those of MPI, of UCX, or of both."}
  - {name: bins, type: int, default: 30, min: 1, max: 10000, doc: "Pieces of equal length, from the first to the last call or GPU operation."}
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: rank, type: int, priority: 0, doc: "Rank in MPI_COMM_WORLD; null if unknown, or if the process has several."}
  - {name: bin_id, type: id, label: "bin", priority: 0, doc: "Number of the piece of time, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "length", priority: 3, doc: "Length of the piece."}
  - {name: call_pct, type: percent, unit: percent, label: "in calls", priority: 1, doc: "Share of the piece in which a thread of the process was in a call."}
  - {name: gpu_pct, type: percent, unit: percent, label: "kernels", priority: 1, doc: "Share in which a kernel of the process ran on any GPU."}
  - {name: both_pct, type: percent, unit: percent, label: "both", priority: 1, doc: "Share in which both held."}
  - {name: neither_pct, type: percent, unit: percent, label: "neither", priority: 1, doc: "Share in which neither held."}
  - {name: call_ns, type: duration, unit: ns, label: "time in calls", priority: 3, doc: "Time in which a thread of the process was in a call."}
  - {name: gpu_ns, type: duration, unit: ns, label: "kernel time", priority: 3, doc: "Time in which a kernel of the process ran on any GPU."}
  - {name: both_ns, type: duration, unit: ns, label: "time of both", priority: 3, doc: "Time in which both held."}
checks:
  - both_ns BETWEEN 0 AND call_ns AND both_ns <= gpu_ns
  - call_ns + gpu_ns - both_ns <= dur_ns
when_empty: "no call of this library was recorded; -p library=any takes MPI and UCX"
limits: >-
  MPI_Init, MPI_Finalize and waits count as calls. A thread that polls in a UCX progress call is in a call. Threads of a
  process count once. Processes without calls have no rows.
see_also: [mpi_event_sum, ucx_sum, cuda_gpu_time_util_map, mpi_wait]
---*/
WITH RECURSIVE
call AS MATERIALIZED (
  SELECT global_tid >> 24 & 16777215 AS pid, start_ns, end_ns
  FROM mpi_call
  WHERE :library <> 'ucx'
  UNION ALL
  SELECT pid, start_ns, end_ns
  FROM ucx_call
  WHERE :library <> 'mpi'
),
work AS MATERIALIZED (
  SELECT pid, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'process'
    AND activity IN ('compute', 'communication')
    AND pid IN (SELECT pid FROM call)
),
both AS MATERIALIZED (
  SELECT pid, start_ns, end_ns, 1 AS is_call FROM call
  UNION ALL
  SELECT pid, start_ns, end_ns, 0 FROM work
),
times AS MATERIALIZED (
  SELECT
    pid,
    time_set(start_ns, end_ns) FILTER (WHERE is_call) AS call_times,
    time_set(start_ns, end_ns) FILTER (WHERE NOT is_call) AS gpu_times,
    time_set(start_ns, end_ns) AS any_times
  FROM both
  GROUP BY pid
),
ranked AS (
  SELECT pid, iif(min(rank) = max(rank), min(rank), NULL) AS rank
  FROM mpi_event
  GROUP BY pid
),
whole AS (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM both
),
number AS (
  SELECT 0 AS bin
  UNION ALL
  SELECT bin + 1 FROM number WHERE bin + 1 < :bins
),
-- The last piece is longer by what the division leaves.
bin AS MATERIALIZED (
  SELECT
    bin,
    start_ns + bin * ((end_ns - start_ns) / :bins) AS from_ns,
    iif(bin + 1 = :bins, end_ns, start_ns + (bin + 1) * ((end_ns - start_ns) / :bins)) AS to_ns
  FROM number
  CROSS JOIN whole
  WHERE end_ns - start_ns >= :bins
),
used AS (
  SELECT
    times.pid,
    ranked.rank,
    bin.bin,
    bin.from_ns,
    bin.to_ns - bin.from_ns AS dur_ns,
    overlap_ns(times.call_times, bin.from_ns, bin.to_ns) AS call_ns,
    coalesce(overlap_ns(times.gpu_times, bin.from_ns, bin.to_ns), 0) AS gpu_ns,
    overlap_ns(times.any_times, bin.from_ns, bin.to_ns) AS any_ns
  FROM times
  CROSS JOIN bin
  LEFT JOIN ranked
    ON ranked.pid = times.pid
)
SELECT
  pid,
  rank,
  bin AS bin_id,
  from_ns AS start_ns,
  dur_ns,
  100.0 * call_ns / dur_ns AS call_pct,
  100.0 * gpu_ns / dur_ns AS gpu_pct,
  100.0 * (call_ns + gpu_ns - any_ns) / dur_ns AS both_pct,
  100.0 * (dur_ns - any_ns) / dur_ns AS neither_pct,
  call_ns,
  gpu_ns,
  call_ns + gpu_ns - any_ns AS both_ns
FROM used
ORDER BY pid, bin_id
