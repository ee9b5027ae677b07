/*---
name: straggler_causes
version: 4
title: Why ranks come late
summary: What a rank did longer than others before collectives to which it came last.
why: To see whether a late rank computes longer, copies longer, or waits for its host.
kind: sum
tags: [communication, gpu]
reads: []
asks: [collective_arrivals, collective_work, steps]
across: true
columns:
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program if it is known for all members of the communicator that are seen; else within the communicator, or by host name: see collective_arrivals. Null if unknown."}
  - {name: part, type: text, priority: 1, doc: "steady: collectives in steps of the rank without warm-up and tail. other: those before, between and after; all if the rank has no steps."}
  - {name: last_count, type: int, unit: count, label: "came last", priority: 1, doc: "Collectives in which this rank came last, and another one waited for it."}
  - {name: caused_ns, type: duration, unit: ns, label: "wait of the others", priority: 1, doc: "What the other ranks waited together in these collectives."}
  - {name: lost_ns, type: duration, unit: ns, label: "lost at most", priority: 1, doc: "Sum over these collectives of the longest wait of another rank: an upper bound of what the program loses."}
  - {name: longer_ns, type: duration, unit: ns, label: "longer by", priority: 1, doc: "By how much its time since the collectives before was longer than the mean of the other ranks: the sum of the next four columns."}
  - {name: own_ns, type: duration, unit: ns, label: "own part", priority: 1, doc: "The part of lost_ns that the rank's own work explains: at most the sum of the columns compute_ns, exposed_memory_ns and idle_ns, and 0 if that is negative. The rest is of other ranks that it waited for, or noise."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "The part of longer_ns in which a compute kernel ran; negative if the others computed longer."}
  - {name: exposed_communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 2, doc: "The part in which a communication kernel that is no collective ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "The part in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "The part in which nothing ran: the GPU waited for its host."}
  - {name: cause, type: text, priority: 0, doc: "The largest of the four parts: longer compute, communication, copies, or the host; cannot tell if longer_ns is less than half of lost_ns."}
  - {name: communicator, type: text, priority: 1, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group; operation and stream if guessed."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank in its communicator, as in collective_arrivals."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank; the first one if it has several."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID; the lowest if there are several."}
when_empty: "no rank waited for another one, or only one rank is seen"
limits: >-
  The collectives before are those of all communicators on the GPU of the rank. All ranks end a collective nearly
  together, so what a rank does longer after it makes it late; after a broadcast they may not. Compute may be longer
  because of more work, or of a slower GPU. A rank that waited for another one, as in a pipeline, comes late without a
  part of its own: see own_ns.
see_also: [stragglers, collective_work, collective_arrivals]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
arrival AS MATERIALIZED (
  SELECT
    arrival.communicator,
    arrival.sequence,
    arrival.rank,
    arrival.member,
    arrival.last_member,
    arrival.wait_ns,
    arrival.report,
    arrival.pid,
    arrival.side,
    work.gpu_id,
    work.iteration,
    work.dur_ns,
    work.compute_ns,
    work.exposed_communication_ns,
    work.exposed_memory_ns,
    work.idle_ns
  FROM collective_arrivals AS arrival
  JOIN collective_work AS work
    ON work.side = arrival.side
    AND work.kernel_id = arrival.kernel_id
    AND work.communicator = arrival.communicator
    AND work.sequence = arrival.own_sequence
  WHERE arrival.agrees
    AND arrival.seen_count > 1
),
others AS MATERIALIZED (
  SELECT
    communicator,
    sequence,
    sum(wait_ns) AS caused_ns,
    max(wait_ns) AS longest_ns,
    avg(dur_ns) AS dur_ns,
    avg(compute_ns) AS compute_ns,
    avg(exposed_communication_ns) AS exposed_communication_ns,
    avg(exposed_memory_ns) AS exposed_memory_ns,
    avg(idle_ns) AS idle_ns
  FROM arrival
  WHERE member <> last_member
  GROUP BY communicator, sequence
  HAVING sum(wait_ns) > 0
),
steady AS MATERIALIZED (
  SELECT side, gpu_id, step
  FROM steps
  WHERE part IN ('median', 'steady')
  GROUP BY side, gpu_id, step
),
summed AS (
  SELECT
    arrival.communicator,
    CASE WHEN steady.step IS NULL THEN 'other' ELSE 'steady' END AS part,
    max(arrival.rank) AS rank,
    arrival.member,
    min(arrival.report) AS report,
    min(arrival.pid) AS pid,
    count(*) AS last_count,
    sum(others.caused_ns) AS caused_ns,
    sum(others.longest_ns) AS lost_ns,
    CAST(round(sum(arrival.dur_ns - others.dur_ns)) AS BIGINT) AS longer_ns,
    CAST(round(sum(arrival.compute_ns - others.compute_ns)) AS BIGINT) AS compute_ns,
    CAST(
      round(sum(arrival.exposed_communication_ns - others.exposed_communication_ns)) AS BIGINT
    ) AS exposed_communication_ns,
    CAST(round(sum(arrival.exposed_memory_ns - others.exposed_memory_ns)) AS BIGINT) AS exposed_memory_ns,
    CAST(round(sum(arrival.idle_ns - others.idle_ns)) AS BIGINT) AS idle_ns
  FROM arrival
  JOIN others
    ON others.communicator = arrival.communicator
    AND others.sequence = arrival.sequence
  LEFT JOIN steady
    ON steady.side = arrival.side
    AND steady.gpu_id = arrival.gpu_id
    AND steady.step = arrival.iteration
  WHERE arrival.member = arrival.last_member
  GROUP BY arrival.communicator, arrival.member, CASE WHEN steady.step IS NULL THEN 'other' ELSE 'steady' END
)
SELECT
  rank,
  part,
  last_count,
  caused_ns,
  lost_ns,
  longer_ns,
  CASE
    WHEN compute_ns + exposed_memory_ns + idle_ns <= 0 THEN 0
    WHEN compute_ns + exposed_memory_ns + idle_ns >= lost_ns THEN lost_ns
    ELSE compute_ns + exposed_memory_ns + idle_ns
  END AS own_ns,
  compute_ns,
  exposed_communication_ns,
  exposed_memory_ns,
  idle_ns,
  CASE
    WHEN 2 * longer_ns < lost_ns THEN 'cannot tell'
    WHEN compute_ns >= exposed_communication_ns AND compute_ns >= exposed_memory_ns AND compute_ns >= idle_ns
      THEN 'longer compute'
    WHEN idle_ns >= exposed_communication_ns AND idle_ns >= exposed_memory_ns THEN 'the host'
    WHEN exposed_memory_ns >= exposed_communication_ns THEN 'copies'
    ELSE 'communication'
  END AS cause,
  communicator,
  member,
  report,
  pid
FROM summed
ORDER BY own_ns DESC, lost_ns DESC, communicator, member, part
