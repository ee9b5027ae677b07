/*---
name: rank_heat
version: 1
title: Waits over the iterations
summary: How long each rank made the others wait, in groups of iterations.
why: To draw waits as a map of ranks and iterations.
kind: sum
tags: [communication, gpu, nvtx]
internal: true
reads: []
asks: [rank_iterations]
across: true
params:
  - {name: groups, type: int, default: 60, min: 1, max: 1000, doc: "Most groups of iterations."}
  - {name: ranks, type: int, default: 64, min: 1, doc: "Most ranks: those that made the others wait longest."}
columns:
  - {name: place, type: int, priority: 3, doc: "Place of the rank among those shown, from 0, by rank."}
  - {name: rank, type: int, priority: 0, doc: "Rank, as in collective_arrivals."}
  - {name: group_id, type: int, priority: 3, doc: "Place of the group, from 0."}
  - {name: first_iteration, type: int, priority: 0, doc: "First iteration of the group."}
  - {name: last_iteration, type: int, priority: 1, doc: "Last iteration of the group."}
  - {name: caused_ns, type: duration, unit: ns, label: "wait of the others", priority: 0, doc: "The longest wait of another rank in each collective in which this rank came last, in sum."}
  - {name: own_wait_ns, type: duration, unit: ns, label: "own wait", priority: 1, doc: "What this rank waited for others."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 2, doc: "All ranks, also those that are left out."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
checks:
  - first_iteration <= last_iteration
when_empty: "only one rank is seen, or its collectives are outside of iterations"
limits: See rank_iterations.
see_also: [rank_iterations, longest_wait]
---*/
WITH
numbered AS (
  SELECT
    *,
    iteration - min(iteration) OVER () AS nth,
    max(iteration) OVER () - min(iteration) OVER () + 1 AS iterations
  FROM rank_iterations
  WHERE iteration IS NOT NULL
),
chosen AS (
  SELECT
    rank,
    report,
    pid,
    row_number() OVER (ORDER BY sum(caused_ns) DESC, rank, report, pid) AS choice,
    count(*) OVER () AS rank_count
  FROM numbered
  GROUP BY rank, report, pid
),
member AS (
  SELECT rank, report, pid, rank_count, row_number() OVER (ORDER BY rank, report, pid) - 1 AS place
  FROM chosen
  WHERE choice <= :ranks
)
SELECT
  member.place,
  member.rank,
  iif(numbered.iterations <= :groups, numbered.nth, numbered.nth * :groups / numbered.iterations) AS group_id,
  min(numbered.iteration) AS first_iteration,
  max(numbered.iteration) AS last_iteration,
  sum(numbered.caused_ns) AS caused_ns,
  sum(numbered.own_wait_ns) AS own_wait_ns,
  member.rank_count,
  member.report,
  member.pid
FROM member
JOIN numbered
  ON numbered.rank = member.rank
  AND numbered.report = member.report
  AND numbered.pid IS NOT DISTINCT FROM member.pid
GROUP BY member.place, member.rank, member.report, member.pid, member.rank_count, group_id
ORDER BY member.place, group_id
