/*---
name: longest_wait
version: 5
title: The longest wait
summary: What each rank did before and in the collective with the longest wait.
why: To see on one collective why ranks wait for each other.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [collective_arrivals, collective_work, job_members, ranks]
across: true
columns:
  - {name: rank, type: int, priority: 0, doc: "Rank, as in collective_arrivals; null if unknown."}
  - {name: name, type: text, priority: 0, doc: "Name of the rank, as in job_ranks; of a process that has no GPU of its own, its ID and report."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank in its communicator, as in collective_arrivals."}
  - {name: operation, type: text, priority: 1, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 2, doc: "What the rank contributes, of a reduce-scatter what it gets; null if unknown."}
  - {name: communicator, type: text, priority: 2, doc: "Communicator of the collective."}
  - {name: sequence, type: int, priority: 2, doc: "Place among the collectives of the communicator."}
  - {name: iteration, type: int, priority: 2, doc: "Iteration of the rank in which the collective starts; null if in none."}
  - {name: before_ns, type: duration, unit: ns, label: "since the collectives before", priority: 1, doc: "From the end of the collectives before to the start of this one: the sum of the next four columns."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 2, doc: "Time in which a communication kernel that is no collective ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Time in which nothing ran."}
  - {name: late_ns, type: duration, unit: ns, label: "after the first", priority: 1, doc: "From the first rank's start of the collective to this one's."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait for the last", priority: 1, doc: "From this rank's start to the last one's; 0 if it is below the uncertainty of the clocks."}
  - {name: transfer_ns, type: duration, unit: ns, label: "transfer", priority: 1, doc: "The rest of the collective: from the last rank's start to this one's end."}
  - {name: is_last, type: bool, priority: 1, doc: "Whether this rank came last."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 2, doc: "Start of the collective on this rank, on the clock of the first report."}
  - {name: gpu_id, type: id, label: "GPU", priority: 2, doc: "GPU that ran the collective."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = before_ns
when_empty: "no rank waited for another one, or only one rank is seen"
limits: >-
  Of collectives with equal waits, the first one. Only collectives in which the ranks agree.
see_also: [collective_arrivals, collective_work, straggler_causes]
---*/
WITH
longest AS (
  SELECT communicator, sequence
  FROM collective_arrivals
  WHERE agrees
    AND wait_ns > 0
    AND seen_count > 1
    AND member <> last_member
  ORDER BY wait_ns DESC, arrival_id
  LIMIT 1
)
SELECT
  arrival.rank,
  coalesce(
    (
      SELECT min(members.name)
      FROM ranks
      JOIN job_members AS members
        ON members.side = ranks.side
        AND members.gpu_id = ranks.gpu_id
      WHERE ranks.side = arrival.side
        AND ranks.gpu_count = 1
        AND (ranks.pid IS NOT DISTINCT FROM arrival.pid)
    ),
    'process ' || arrival.pid || ' of ' || arrival.report,
    arrival.report
  ) AS name,
  arrival.member,
  arrival.operation,
  arrival.size_bytes,
  arrival.communicator,
  arrival.sequence,
  work.iteration,
  work.dur_ns AS before_ns,
  work.compute_ns,
  work.exposed_communication_ns,
  work.exposed_memory_ns,
  work.idle_ns,
  arrival.late_ns,
  coalesce(arrival.wait_ns, 0) AS wait_ns,
  arrival.dur_ns - coalesce(arrival.wait_ns, 0) AS transfer_ns,
  arrival.member = arrival.last_member AS is_last,
  arrival.start_ns,
  work.gpu_id,
  arrival.report,
  arrival.pid
FROM longest
JOIN collective_arrivals AS arrival
  ON arrival.communicator = longest.communicator
  AND arrival.sequence = longest.sequence
JOIN collective_work AS work
  ON work.side = arrival.side
  AND work.kernel_id = arrival.kernel_id
  AND work.communicator = arrival.communicator
  AND work.sequence = arrival.own_sequence
ORDER BY arrival.member, arrival.rank, arrival.report, arrival.pid
