/*---
name: job_experts
version: 1
title: Balance of experts
summary: How evenly the ranks of each expert-parallel group compute between all-to-alls.
why: To see whether some experts get more tokens than others.
kind: sum
tags: [communication, gpu]
internal: true
reads: []
asks: [collective_arrivals, collective_work, communicator_roles, job_members, ranks]
across: true
columns:
  - {name: communicator, type: text, priority: 1, doc: "Communicator with the role expert, as in communicator_roles."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 1, doc: "Ranks that are compared."}
  - {name: collective_count, type: int, unit: count, label: "all-to-alls", priority: 1, doc: "Matched all-to-alls that are compared: every other one, see limits."}
  - {name: name, type: text, label: "rank", priority: 0, doc: "Rank that computes longest before them, by name."}
  - {name: most_ns, type: duration, unit: ns, label: "compute before each", priority: 0, doc: "Mean time that it computes before each, since the collectives before."}
  - {name: median_ns, type: duration, unit: ns, label: "median of the ranks", priority: 0, doc: "Median of these means over the ranks."}
  - {name: ratio, type: real, label: "times the median", priority: 0, doc: "most_ns / median_ns: 1 if the experts are balanced."}
  - {name: name_number, type: int, priority: 3, doc: "Place of this rank, as in job_ranks."}
when_empty: "no all-to-all of experts is matched over ranks"
limits: >-
  Tokens go to their experts by one all-to-all and back by the next one, so of each group, those with even or with odd
  sequence are taken, whichever are less balanced. With other orders of all-to-alls, the work is mixed.
see_also: [communicator_roles, collective_work]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
owner AS MATERIALIZED (
  SELECT ranks.side, ranks.pid, min(members.place) AS place, min(members.name) AS name
  FROM ranks
  JOIN job_members AS members
    ON members.side = ranks.side
    AND members.gpu_id = ranks.gpu_id
  WHERE ranks.gpu_count = 1
  GROUP BY ranks.side, ranks.pid
),
work AS MATERIALIZED (
  SELECT
    arrival.communicator,
    arrival.sequence % 2 AS turn,
    owner.place,
    min(owner.name) AS name,
    count(*) AS collective_count,
    avg(work.compute_ns) AS compute_ns
  FROM collective_arrivals AS arrival
  JOIN communicator_roles AS roles
    ON roles.communicator = arrival.communicator
    AND roles.role = 'expert'
  JOIN collective_work AS work
    ON work.side = arrival.side
    AND work.kernel_id = arrival.kernel_id
    AND work.communicator = arrival.communicator
    AND work.sequence = arrival.own_sequence
  JOIN owner
    ON owner.side = arrival.side
    AND (owner.pid IS NOT DISTINCT FROM arrival.pid)
  WHERE arrival.agrees
    AND arrival.seen_count > 1
    AND arrival.operation = 'AllToAll'
  GROUP BY arrival.communicator, arrival.sequence % 2, owner.place
),
placed AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY communicator, turn ORDER BY compute_ns DESC, place) AS choice
  FROM work
),
measured AS MATERIALIZED (
  SELECT
    communicator,
    turn,
    count(*) AS seen_count,
    max(collective_count) AS collective_count,
    min(CASE WHEN choice = 1 THEN name END) AS name,
    min(CASE WHEN choice = 1 THEN place END) AS name_number,
    max(compute_ns) AS most_ns,
    median(compute_ns) AS median_ns
  FROM placed
  GROUP BY communicator, turn
),
chosen AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY communicator ORDER BY most_ns / nullif(median_ns, 0) DESC, turn) AS choice
  FROM measured
  WHERE seen_count > 1
    AND median_ns > 0
)
SELECT
  communicator,
  max(seen_count) AS seen_count,
  max(collective_count) AS collective_count,
  max(name) AS name,
  CAST(round(max(most_ns)) AS BIGINT) AS most_ns,
  CAST(round(max(median_ns)) AS BIGINT) AS median_ns,
  1.0 * max(most_ns) / max(median_ns) AS ratio,
  max(name_number) AS name_number
FROM chosen
WHERE choice = 1
GROUP BY communicator
ORDER BY ratio DESC, communicator
