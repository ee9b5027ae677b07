/*---
name: rank_heat
version: 3
title: Waits over the iterations
summary: How long each rank made the others wait, in groups of iterations.
why: To draw waits as a map of ranks and iterations.
kind: sum
tags: [communication, gpu, nvtx]
internal: true
reads: []
asks: [job_members, rank_iterations, ranks]
across: true
params:
  - {name: groups, type: int, default: 60, min: 1, max: 1000, doc: "Most groups of iterations."}
  - {name: ranks, type: int, default: 64, min: 1, doc: "Most ranks: those that made the others wait longest."}
columns:
  - {name: place, type: int, priority: 3, doc: "Place of the rank among those shown, from 0, by rank."}
  - {name: rank, type: int, priority: 0, doc: "Rank, as in collective_arrivals; null if unknown."}
  - {name: name, type: text, priority: 0, doc: "Name of the rank, as in longest_wait."}
  - {name: group_id, type: int, priority: 3, doc: "Place of the group, from 0. Groups of the next report of a rank, such as of the next cycle of the profiler, follow."}
  - {name: first_iteration, type: int, priority: 0, doc: "First iteration of the group."}
  - {name: last_iteration, type: int, priority: 1, doc: "Last iteration of the group."}
  - {name: caused_ns, type: duration, unit: ns, label: "wait of the others", priority: 0, doc: "Sum over the collectives in which this rank came last of the longest wait of another rank."}
  - {name: own_wait_ns, type: duration, unit: ns, label: "own wait", priority: 1, doc: "What this rank waited for others."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 2, doc: "All ranks, also those that are left out."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank in its communicator, as in collective_arrivals."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
checks:
  - first_iteration <= last_iteration
when_empty: "only one rank is seen, or its collectives are outside of iterations"
limits: See rank_iterations.
see_also: [rank_iterations, longest_wait]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
owner AS MATERIALIZED (
  SELECT ranks.report, ranks.pid, min(members.name) AS name, min(members.cycle) AS cycle
  FROM ranks
  JOIN job_members AS members
    ON members.side = ranks.side
    AND members.gpu_id = ranks.gpu_id
  WHERE ranks.gpu_count = 1
  GROUP BY ranks.report, ranks.pid
),
named AS MATERIALIZED (
  SELECT
    waits.*,
    coalesce(owner.name, 'process ' || waits.pid || ' of ' || waits.report, waits.report) AS name,
    coalesce(owner.cycle, 0) AS cycle,
    waits.iteration - min(waits.iteration) OVER () AS iteration_place,
    max(waits.iteration) OVER () - min(waits.iteration) OVER () + 1 AS cycle_length
  FROM rank_iterations AS waits
  LEFT JOIN owner
    ON owner.report = waits.report
    AND (owner.pid IS NOT DISTINCT FROM waits.pid)
  WHERE waits.iteration IS NOT NULL
),
numbered AS MATERIALIZED (
  SELECT
    *,
    iteration_place + cycle * cycle_length AS nth,
    (max(cycle) OVER () + 1) * cycle_length AS iterations
  FROM named
),
chosen AS MATERIALIZED (
  SELECT
    name,
    max(rank) AS rank,
    min(member) AS member,
    min(report) AS report,
    min(pid) AS pid,
    row_number() OVER (ORDER BY sum(caused_ns) DESC, min(member), name) AS choice,
    count(*) OVER () AS rank_count
  FROM numbered
  GROUP BY name
),
shown AS (
  SELECT
    name,
    rank,
    member,
    report,
    pid,
    rank_count,
    row_number() OVER (ORDER BY member, report, pid, name) - 1 AS place
  FROM chosen
  WHERE choice <= :ranks
)
SELECT
  shown.place,
  shown.rank,
  shown.name,
  iif(numbered.iterations <= :groups, numbered.nth, numbered.nth * :groups / numbered.iterations) AS group_id,
  min(numbered.iteration) AS first_iteration,
  max(numbered.iteration) AS last_iteration,
  sum(numbered.caused_ns) AS caused_ns,
  sum(numbered.own_wait_ns) AS own_wait_ns,
  shown.rank_count,
  shown.member,
  shown.report,
  shown.pid
FROM shown
JOIN numbered
  ON numbered.name = shown.name
GROUP BY
  shown.place,
  shown.rank,
  shown.name,
  shown.member,
  shown.report,
  shown.pid,
  shown.rank_count,
  group_id
ORDER BY shown.place, group_id
