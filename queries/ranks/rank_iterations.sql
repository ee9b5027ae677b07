/*---
name: rank_iterations
version: 2
title: Ranks by iteration
summary: How long each rank made the others wait in each iteration, and waited itself.
why: To see whether a rank is always late, or only in some iterations.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [collective_arrivals, collective_work]
across: true
columns:
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program if it is known for all members of the communicator that are seen; else within the communicator, or by host name: see collective_arrivals. Null if unknown."}
  - {name: iteration, type: int, priority: 0, doc: "Number of the iteration in its thread, from 0; null for collectives outside of iterations."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Collectives in which the rank and another one are seen."}
  - {name: last_count, type: int, unit: count, label: "came last", priority: 1, doc: "Collectives in which this rank came last, and another one waited for it."}
  - {name: caused_ns, type: duration, unit: ns, label: "wait of the others", priority: 1, doc: "Sum over these collectives of the longest wait of another rank: an upper bound of the time that the program loses."}
  - {name: own_wait_ns, type: duration, unit: ns, label: "own wait", priority: 1, doc: "What this rank waited for others."}
  - {name: communicator_count, type: int, unit: count, label: "communicators", priority: 2, doc: "Communicators of these collectives. A rank is one within its communicator."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank in its communicator, as in collective_arrivals; the lowest if it is in several."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
checks:
  - last_count <= collective_count
when_empty: "only one rank is seen, or no collective was recorded"
limits: >-
  Iterations are found by the names of NVTX ranges, and counted on each rank, so all captures must have the same ones.
  Waits below the uncertainty of the clocks do not count.
see_also: [stragglers, straggler_causes, iterations]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
arrival AS (
  SELECT
    arrival.*,
    work.iteration,
    max(CASE WHEN arrival.member <> arrival.last_member THEN arrival.wait_ns END) OVER (
      PARTITION BY arrival.communicator, arrival.sequence
    ) AS longest_ns
  FROM collective_arrivals AS arrival
  JOIN collective_work AS work
    ON work.side = arrival.side
    AND work.kernel_id = arrival.kernel_id
    AND work.communicator = arrival.communicator
    AND work.sequence = arrival.own_sequence
  WHERE arrival.agrees
    AND arrival.seen_count > 1
)
SELECT
  min(rank) AS rank,
  iteration,
  count(*) AS collective_count,
  sum(CASE WHEN member = last_member AND longest_ns > 0 THEN 1 ELSE 0 END) AS last_count,
  coalesce(sum(CASE WHEN member = last_member THEN longest_ns END), 0) AS caused_ns,
  coalesce(sum(CASE WHEN member <> last_member THEN wait_ns END), 0) AS own_wait_ns,
  count(DISTINCT communicator) AS communicator_count,
  min(member) AS member,
  report,
  pid
FROM arrival
GROUP BY side, report, pid, iteration
ORDER BY side, report, pid NULLS FIRST, iteration NULLS FIRST
