/*---
name: stragglers
version: 2
title: Stragglers
summary: How often each rank came last, and how long the others waited for it.
why: To find the rank that makes everybody wait.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [collective_arrivals]
across: true
columns:
  - {name: communicator, type: text, priority: 1, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group; operation and stream if guessed."}
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program if it is known for all members of the communicator that are seen; else within the communicator, or by host name: see collective_arrivals. Null if unknown."}
  - {name: rank_source, type: text, label: "rank is", priority: 3, doc: "How rank is known. program: rank in the whole program. communicator: rank within the communicator. host name: place by the host in the name of the report. Null if unknown."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Collectives of the communicator that at least two ranks are seen in."}
  - {name: last_count, type: int, unit: count, label: "came last", priority: 1, doc: "Collectives in which this rank came last."}
  - {name: last_pct, type: percent, unit: percent, label: "share of collectives", priority: 1, doc: "last_count as a share of collective_count."}
  - {name: caused_ns, type: duration, unit: ns, label: "wait of the others", priority: 1, doc: "What the other ranks waited together in the collectives in which this rank came last."}
  - {name: longest_ns, type: duration, unit: ns, label: "longest wait", priority: 1, doc: "The longest of these waits of one rank."}
  - {name: own_wait_ns, type: duration, unit: ns, label: "own wait", priority: 1, doc: "What this rank waited for others."}
  - {name: total_ns, type: duration, unit: ns, label: "time in collectives", priority: 1, doc: "Time of all its collectives."}
  - {name: own_wait_pct, type: percent, unit: percent, label: "share of time in collectives", priority: 1, doc: "own_wait_ns as a share of total_ns."}
  - {name: median_late_ns, type: duration, unit: ns, label: "usually after the first", priority: 2, doc: "Median of the time from the first rank's start to this one's."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank among those of the communicator, as in collective_arrivals."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank; the first one if it has several, such as one for each cycle of the profiler."}
  - {name: report_count, type: int, unit: count, label: "reports", priority: 3, doc: "Reports of the rank."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID; the lowest if there are several."}
checks:
  - last_count <= collective_count
when_empty: "no collective of two ranks or more could be matched: -q job says why"
limits: >-
  Waits below the uncertainty of the clocks do not count. Collectives in which the ranks do not agree are left out.
see_also: [collective_arrivals, rank_clocks, bus_bandwidth]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
arrival AS MATERIALIZED (
  SELECT *
  FROM collective_arrivals
  WHERE agrees
    AND seen_count > 1
),
caused AS MATERIALIZED (
  SELECT
    communicator,
    last_member AS member,
    count(DISTINCT sequence) AS last_count,
    sum(wait_ns) AS caused_ns,
    max(wait_ns) AS longest_ns
  FROM arrival
  WHERE member <> last_member
    AND wait_ns > 0
  GROUP BY communicator, last_member
)
SELECT
  arrival.communicator,
  max(arrival.rank) AS rank,
  min(arrival.rank_source) AS rank_source,
  count(*) AS collective_count,
  coalesce(max(caused.last_count), 0) AS last_count,
  100.0 * coalesce(max(caused.last_count), 0) / count(*) AS last_pct,
  coalesce(max(caused.caused_ns), 0) AS caused_ns,
  coalesce(max(caused.longest_ns), 0) AS longest_ns,
  coalesce(sum(arrival.wait_ns), 0) AS own_wait_ns,
  sum(arrival.dur_ns) AS total_ns,
  100.0 * coalesce(sum(arrival.wait_ns), 0) / nullif(sum(arrival.dur_ns), 0) AS own_wait_pct,
  median(arrival.late_ns) AS median_late_ns,
  arrival.member,
  min(arrival.report) AS report,
  count(DISTINCT arrival.report) AS report_count,
  min(arrival.pid) AS pid
FROM arrival
LEFT JOIN caused
  ON caused.communicator = arrival.communicator
  AND caused.member = arrival.member
GROUP BY arrival.communicator, arrival.member
ORDER BY caused_ns DESC, arrival.communicator, arrival.member
