/*---
name: collective_arrivals
version: 4
title: Arrivals at collectives
summary: When each rank came to each collective, and how long it waited for the last one.
why: To see which rank makes the others wait, and in which collective.
kind: trace
tags: [communication, gpu, nvtx]
reads: []
asks: [clock_groups, collective_shifts, collectives, ranks]
across: true
columns:
  - {name: communicator, type: text, priority: 2, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group; operation and stream if guessed."}
  - {name: sequence, type: int, priority: 0, doc: "Place among the collectives of the communicator, as the first report counts that has it, from 0; below 0 before the first one of that report."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another; SendRecv, as in collective_op."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "What the rank contributes, of a reduce-scatter what it gets; null if unknown."}
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program if it is known for all members of the communicator that are seen; else within the communicator; else the place by host name. Null if unknown."}
  - {name: rank_source, type: text, label: "rank is", priority: 3, doc: "How rank is known. program: rank in the whole program. communicator: rank within the communicator. host name: place by the host in the name of the report, as in HOST_PID.TIME.pt.trace.json. Null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the clock of the first report that shares collectives with its own."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time of the kernel."}
  - {name: late_ns, type: duration, unit: ns, label: "after the first", priority: 1, doc: "From the first rank's start to this one's."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait for the last", priority: 1, doc: "From this rank's start to the last one's: time that is not transfer, at most dur_ns. Null if it is below the uncertainty of the clocks."}
  - {name: transfer_ns, type: duration, unit: ns, label: "transfer", priority: 1, doc: "From the last rank's start to this one's end; null as wait_ns is for any rank."}
  - {name: last_rank, type: int, label: "last", priority: 1, doc: "Rank that came last, as in the column rank."}
  - {name: member, type: int, priority: 3, doc: "Number of the rank among those of the communicator: rank if that is known, else its place by report and process."}
  - {name: last_member, type: int, priority: 3, doc: "Member that came last, as in the column member."}
  - {name: uncertainty_ns, type: duration, unit: ns, label: "uncertainty", priority: 2, doc: "Uncertainty of the difference between clocks; 0 within one report."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 2, doc: "Ranks that the reports show in this collective."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 2, doc: "Ranks of the communicator; null if unknown."}
  - {name: agrees, type: bool, priority: 2, doc: "Whether all ranks seen ran the same operation with the same size, and at the same time if none can end before the last begins. In traces of PyTorch, sizes of an all-to-all or an all-gather may differ. If a collective does not agree, the ranks are out of step, or captures began at different collectives. A guess agrees only if all ranks have the same number or a row in collective_shifts, and if nine in ten of those of its communicator agree. None agrees if a rank is in it twice, as with several profiler cycles that count from 0."}
  - {name: source, type: text, priority: 2, doc: "How the communicator and its sequence are known: payload of NCCL, trace of PyTorch, or guess from the order of kernels on a stream."}
  - {name: kernel_id, type: id, priority: 3, doc: "Kernel of the collective: row ID in the raw table of its report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: own_sequence, type: int, priority: 3, doc: "Place among the collectives of the communicator in the report itself, from 0."}
  - {name: arrival_id, type: id, priority: 3, doc: "Number of the row."}
checks:
  - late_ns >= 0 AND seen_count >= 1
when_empty: "no collective of two ranks or more could be matched: -q job says why"
limits: >-
  Sizes and communicators need NCCL 2.19 or newer, nsys profile --trace=cuda,nvtx and nsys export --include-json=true, or
  a trace of PyTorch from 2024 on. Collectives are matched by communicator and sequence. Captures that begin at
  other collectives are matched if collective_shifts shows at which. A rank that came before the last one by less than the uncertainty of the clocks
  has no known wait. The root of a broadcast may go ahead of the others until its buffers are full, so its wait can belong
  to an earlier collective.
see_also: [rank_clocks, stragglers, straggler_causes, bus_bandwidth]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
-- The reports whose places count.
leading AS MATERIALIZED (
  SELECT DISTINCT to_side, communicator
  FROM collective_shifts
),
op AS MATERIALIZED (
  SELECT
    collectives.*,
    collectives.sequence + coalesce(moved.shift, 0) AS shared_sequence,
    -- Its places are known: they are those of the first report, or fit them.
    CASE WHEN moved.shift IS NOT NULL OR leading.to_side IS NOT NULL THEN 1 ELSE 0 END AS is_placed
  FROM collectives
  LEFT JOIN collective_shifts AS moved
    ON moved.side = collectives.side
    AND moved.communicator = collectives.communicator
  LEFT JOIN leading
    ON leading.to_side = collectives.side
    AND leading.communicator = collectives.communicator
  WHERE collectives.start_ns IS NOT NULL
),
known AS MATERIALIZED (
  SELECT
    op.side,
    op.communicator,
    op.pid,
    op.gpu_id,
    max(op.rank) AS own_rank,
    max(ranks.rank) AS program_rank,
    max(ranks.host) AS host,
    max(ranks.host_order) AS host_order,
    max(op.rank_count) AS rank_count,
    count(*) AS own_count
  FROM op
  LEFT JOIN ranks
    ON ranks.side = op.side
    AND ranks.pid = op.pid
    AND ranks.gpu_count = 1
  GROUP BY op.side, op.communicator, op.pid, op.gpu_id
),
-- Reports of different hosts: their names order the ranks that are otherwise unknown.
named AS MATERIALIZED (
  SELECT
    *,
    CASE WHEN host IS NOT NULL AND count(*) OVER (PARTITION BY communicator, host) = 1 THEN 1 END AS is_only,
    row_number() OVER (
      PARTITION BY communicator
      ORDER BY host_order NULLS FIRST, host NULLS FIRST, side
    ) - 1 AS host_place,
    row_number() OVER (PARTITION BY communicator ORDER BY side, pid NULLS FIRST, gpu_id NULLS FIRST) - 1 AS place
  FROM known
),
ranked AS MATERIALIZED (
  SELECT
    *,
    CASE
      WHEN count(program_rank) OVER same = count(*) OVER same THEN program_rank
      WHEN own_rank IS NOT NULL THEN own_rank
      WHEN count(is_only) OVER same = count(*) OVER same THEN host_place
    END AS rank,
    CASE
      WHEN count(program_rank) OVER same = count(*) OVER same THEN 'program'
      WHEN own_rank IS NOT NULL THEN 'communicator'
      WHEN count(is_only) OVER same = count(*) OVER same THEN 'host name'
    END AS rank_source
  FROM named
  WINDOW same AS (PARTITION BY communicator)
),
member AS MATERIALIZED (
  SELECT *, coalesce(rank, place) AS member
  FROM ranked
),
aligned AS (
  SELECT
    op.side,
    op.report,
    op.pid,
    op.gpu_id,
    op.communicator,
    op.shared_sequence AS sequence,
    op.sequence AS own_sequence,
    op.is_placed,
    op.operation,
    op.size_bytes,
    op.source,
    op.kernel_id,
    member.rank,
    member.member,
    member.rank_source,
    member.rank_count,
    member.own_count,
    CAST(
      round(op.start_ns + clock.offset_ns + clock.drift * (op.start_ns - coalesce(clock.at_ns, 0))) AS BIGINT
    ) AS start_ns,
    op.dur_ns,
    clock.clock_side,
    clock.uncertainty_ns,
    count(*) OVER (
      PARTITION BY clock.clock_side, op.communicator, op.shared_sequence, member.member
    ) AS same_rank_count
  FROM op
  JOIN member
    ON member.side = op.side
    AND member.communicator = op.communicator
    AND (member.pid IS NOT DISTINCT FROM op.pid)
    AND (member.gpu_id IS NOT DISTINCT FROM op.gpu_id)
  JOIN clock_groups AS clock
    ON clock.side = op.side
),
matched AS (
  SELECT
    *,
    min(start_ns) OVER same AS first_start_ns,
    max(start_ns) OVER same AS last_start_ns,
    min(start_ns + dur_ns) OVER same AS first_end_ns,
    count(*) OVER same AS seen_count,
    min(operation) OVER same = max(operation) OVER same
    AND (
      min(coalesce(size_bytes, -1)) OVER same = max(coalesce(size_bytes, -1)) OVER same
      -- PyTorch lets each rank contribute another size. NCCL itself does not.
      OR (source = 'trace' AND operation IN ('AllToAll', 'AllGather'))
    )
    AND (source <> 'guess' OR min(own_count) OVER same = max(own_count) OVER same OR min(is_placed) OVER same = 1)
    AND max(same_rank_count) OVER same = 1 AS is_alike,
    CASE WHEN min(side) OVER same = max(side) OVER same THEN 0 ELSE max(uncertainty_ns) OVER same END AS apart_ns,
    first_value(rank) OVER (
      PARTITION BY clock_side, communicator, sequence
      ORDER BY start_ns DESC, member
    ) AS last_rank,
    first_value(member) OVER (
      PARTITION BY clock_side, communicator, sequence
      ORDER BY start_ns DESC, member
    ) AS last_member
  FROM aligned
  WINDOW same AS (PARTITION BY clock_side, communicator, sequence)
),
fitting AS (
  SELECT
    *,
    is_alike
    -- No rank can end these before the last one begins.
    AND (
      operation NOT IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier', 'SendRecv')
      OR last_start_ns <= first_end_ns + apart_ns
    ) AS fits
  FROM matched
)
SELECT
  communicator,
  sequence,
  operation,
  size_bytes,
  rank,
  rank_source,
  start_ns,
  dur_ns,
  start_ns - first_start_ns AS late_ns,
  CASE
    WHEN last_start_ns - start_ns < apart_ns THEN NULL
    WHEN last_start_ns - start_ns < dur_ns THEN last_start_ns - start_ns
    ELSE dur_ns
  END AS wait_ns,
  CASE
    WHEN last_start_ns - start_ns < apart_ns THEN NULL
    WHEN start_ns + dur_ns < last_start_ns THEN 0
    ELSE start_ns + dur_ns - last_start_ns
  END AS transfer_ns,
  last_rank,
  member,
  last_member,
  apart_ns AS uncertainty_ns,
  seen_count,
  rank_count,
  fits
  AND (
    source <> 'guess'
    OR 10 * sum(CASE WHEN fits THEN 1 ELSE 0 END) OVER (PARTITION BY clock_side, communicator)
      >= 9 * count(*) OVER (PARTITION BY clock_side, communicator)
  ) AS agrees,
  source,
  kernel_id,
  side,
  report,
  pid,
  own_sequence,
  row_number() OVER (
    ORDER BY first_start_ns, communicator, sequence, member, side, pid NULLS FIRST, gpu_id NULLS FIRST
  ) AS arrival_id
FROM fitting
ORDER BY arrival_id
