/*---
name: point_to_point_waits
version: 1
title: Sends matched with receives
summary: Each send with its receive on the other rank, and which of the two waited.
why: To see which stage of a pipeline makes its neighbour wait.
kind: trace
tags: [communication, gpu, nvtx]
reads: []
asks: [clock_groups, point_to_point, ranks]
across: true
columns:
  - {name: communicator, type: text, priority: 2, doc: "The same on both ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group."}
  - {name: from_rank, type: int, label: "from", priority: 0, doc: "Rank that sends: in the whole program if it is known for both, else within the communicator."}
  - {name: to_rank, type: int, label: "to", priority: 0, doc: "Rank that receives, as from_rank."}
  - {name: sequence, type: int, priority: 0, doc: "Place among the sends from this rank to that one in the communicator, from 0."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "What is sent; if the send is not seen, what is received; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the earlier of both kernels, on the clock of the first report that shares collectives with its own."}
  - {name: dur_ns, type: duration, unit: ns, label: "first start to last end", priority: 1, doc: "From there to the end of the later of both kernels."}
  - {name: sender_wait_ns, type: duration, unit: ns, label: "sender waits", priority: 1, doc: "From the start of the send to that of the receive, if the send starts first; null below the uncertainty of the clocks, or if only one of both is seen."}
  - {name: receiver_wait_ns, type: duration, unit: ns, label: "receiver waits", priority: 1, doc: "From the start of the receive to that of the send, if the receive starts first; null as sender_wait_ns."}
  - {name: transfer_ns, type: duration, unit: ns, label: "transfer", priority: 1, doc: "From the later start to the later end; null if only one of both is seen."}
  - {name: bus_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", priority: 1, doc: "size_bytes divided by transfer_ns: too low if the kernels run other calls of a group, too."}
  - {name: agrees, type: bool, priority: 2, doc: "Whether both sizes are equal; null if only one is known. If not, the captures began at different calls."}
  - {name: seen, type: text, priority: 2, doc: "both, send only or receive only."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 2, doc: "Uncertainty of the difference between clocks; 0 within one report, null if only one of both is seen."}
  - {name: from_report, type: text, priority: 3, doc: "Report of the sender; null if it is not seen."}
  - {name: from_pid, type: id, priority: 3, doc: "Process ID of the sender; null if it is not seen."}
  - {name: to_report, type: text, priority: 3, doc: "Report of the receiver; null if it is not seen."}
  - {name: to_pid, type: id, priority: 3, doc: "Process ID of the receiver; null if it is not seen."}
checks:
  - sender_wait_ns IS NULL OR sender_wait_ns >= 0
  - receiver_wait_ns IS NULL OR receiver_wait_ns >= 0
when_empty: "no send or receive says which rank is at the other end"
limits: >-
  Sends are matched with receives by communicator, both ranks and order, so captures must begin before the first call, or
  at the same one. A kernel may run several sends and receives, and its times are those of all. Ranks need the
  call that makes the communicator in the capture, or a communicator of two ranks.
see_also: [point_to_point, pipeline_bubbles, collective_arrivals, rank_clocks]
---*/
WITH
-- The rank of a process in a communicator; of two ranks, it is the one that is not its peer.
own AS (
  SELECT
    side,
    pid,
    communicator,
    CASE
      WHEN max(rank) IS NOT NULL THEN max(rank)
      WHEN max(rank_count) = 2 AND min(peer) = max(peer) THEN 1 - max(peer)
    END AS rank
  FROM point_to_point
  GROUP BY side, pid, communicator
),
known AS (
  SELECT own.side, own.pid, own.communicator, own.rank, max(ranks.rank) AS program_rank
  FROM own
  LEFT JOIN ranks
    ON ranks.side = own.side
    AND ranks.pid = own.pid
    AND ranks.gpu_count = 1
  WHERE own.rank IS NOT NULL
  GROUP BY own.side, own.pid, own.communicator, own.rank
),
member AS (
  SELECT communicator, rank, max(program_rank) AS program_rank
  FROM known
  GROUP BY communicator, rank
),
aligned AS (
  SELECT
    op.side,
    op.report,
    op.pid,
    op.communicator,
    op.direction,
    CASE WHEN op.direction = 'send' THEN known.rank ELSE op.peer END AS sender_rank,
    CASE WHEN op.direction = 'send' THEN op.peer ELSE known.rank END AS receiver_rank,
    op.sequence,
    op.size_bytes,
    CAST(
      round(op.start_ns + clock.offset_ns + clock.drift * (op.start_ns - coalesce(clock.at_ns, 0))) AS BIGINT
    ) AS start_ns,
    op.dur_ns,
    clock.clock_side,
    clock.uncertainty_ns
  FROM point_to_point AS op
  JOIN known
    ON known.side = op.side
    AND known.pid = op.pid
    AND known.communicator = op.communicator
  JOIN clock_groups AS clock
    ON clock.side = op.side
  WHERE op.start_ns IS NOT NULL
),
paired AS (
  SELECT
    clock_side,
    communicator,
    sender_rank,
    receiver_rank,
    sequence,
    max(CASE WHEN direction = 'send' THEN size_bytes END) AS sent_bytes,
    max(CASE WHEN direction = 'receive' THEN size_bytes END) AS received_bytes,
    min(start_ns) AS start_ns,
    max(start_ns) AS last_start_ns,
    max(start_ns + dur_ns) AS end_ns,
    max(CASE WHEN direction = 'send' THEN start_ns END) AS send_ns,
    max(CASE WHEN direction = 'receive' THEN start_ns END) AS receive_ns,
    max(CASE WHEN direction = 'send' THEN side END) AS from_side,
    max(CASE WHEN direction = 'receive' THEN side END) AS to_side,
    max(CASE WHEN direction = 'send' THEN report END) AS from_report,
    max(CASE WHEN direction = 'send' THEN pid END) AS from_pid,
    max(CASE WHEN direction = 'receive' THEN report END) AS to_report,
    max(CASE WHEN direction = 'receive' THEN pid END) AS to_pid,
    max(uncertainty_ns) AS clock_ns
  FROM aligned
  GROUP BY clock_side, communicator, sender_rank, receiver_rank, sequence
),
measured AS (
  SELECT
    *,
    CASE
      WHEN from_side = to_side THEN 0
      WHEN from_side IS NOT NULL AND to_side IS NOT NULL THEN clock_ns
    END AS apart_ns,
    CASE WHEN send_ns IS NOT NULL AND receive_ns IS NOT NULL THEN end_ns - last_start_ns END AS transfer_ns
  FROM paired
)
SELECT
  measured.communicator,
  CASE
    WHEN sender.program_rank IS NOT NULL AND receiver.program_rank IS NOT NULL THEN sender.program_rank
    ELSE measured.sender_rank
  END AS from_rank,
  CASE
    WHEN sender.program_rank IS NOT NULL AND receiver.program_rank IS NOT NULL THEN receiver.program_rank
    ELSE measured.receiver_rank
  END AS to_rank,
  measured.sequence,
  coalesce(measured.sent_bytes, measured.received_bytes) AS size_bytes,
  measured.start_ns,
  measured.end_ns - measured.start_ns AS dur_ns,
  CASE
    WHEN measured.receive_ns - measured.send_ns >= measured.apart_ns AND measured.receive_ns >= measured.send_ns
      THEN measured.receive_ns - measured.send_ns
    WHEN measured.send_ns - measured.receive_ns >= measured.apart_ns THEN 0
  END AS sender_wait_ns,
  CASE
    WHEN measured.send_ns - measured.receive_ns >= measured.apart_ns AND measured.send_ns >= measured.receive_ns
      THEN measured.send_ns - measured.receive_ns
    WHEN measured.receive_ns - measured.send_ns >= measured.apart_ns THEN 0
  END AS receiver_wait_ns,
  measured.transfer_ns,
  1e9 * coalesce(measured.sent_bytes, measured.received_bytes) / nullif(measured.transfer_ns, 0) AS bus_bytes_per_s,
  measured.sent_bytes = measured.received_bytes AS agrees,
  CASE
    WHEN measured.receive_ns IS NULL THEN 'send only'
    WHEN measured.send_ns IS NULL THEN 'receive only'
    ELSE 'both'
  END AS seen,
  measured.apart_ns AS uncertainty_ns,
  measured.from_report,
  measured.from_pid,
  measured.to_report,
  measured.to_pid
FROM measured
LEFT JOIN member AS sender
  ON sender.communicator = measured.communicator
  AND sender.rank = measured.sender_rank
LEFT JOIN member AS receiver
  ON receiver.communicator = measured.communicator
  AND receiver.rank = measured.receiver_rank
ORDER BY
  measured.start_ns,
  measured.communicator,
  measured.sender_rank,
  measured.receiver_rank,
  measured.sequence,
  measured.clock_side
