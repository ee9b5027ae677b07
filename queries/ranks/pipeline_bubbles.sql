/*---
name: pipeline_bubbles
version: 1
title: Bubbles of pipelines
summary: How long each stage of a pipeline waited for its neighbours or idled.
why: To see what a pipeline loses, and which stage is the slowest.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [pipeline_time, point_to_point, rank_clocks, ranks]
across: true
columns:
  - {name: pipeline, type: int, priority: 0, doc: "Number of the pipeline, from 0: ranks that send to each other, directly or through others."}
  - {name: stage, type: int, priority: 0, doc: "Place of the rank in the pipeline by the order of ranks, from 0: an inference, see limits."}
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program if it is known, else within the communicator."}
  - {name: stage_count, type: int, unit: count, label: "stages", priority: 2, doc: "Stages of the pipeline that are seen."}
  - {name: send_count, type: int, unit: count, label: "sends", priority: 2, doc: "Sends of the rank."}
  - {name: receive_count, type: int, unit: count, label: "receives", priority: 2, doc: "Receives of the rank."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 1, doc: "From the first to the last operation of the GPU, within the scope."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: bubble_ns, type: duration, unit: ns, label: "bubbles", priority: 1, doc: "Time in which the GPU idled, or only sent or received: the sum of the next two columns."}
  - {name: bubble_pct, type: percent, unit: percent, label: "share of window", priority: 1, doc: "bubble_ns as a share of window_ns."}
  - {name: exposed_p2p_ns, type: duration, unit: ns, label: "exposed sends and receives", priority: 1, doc: "Time in which a kernel that sends or receives ran and no compute kernel did: the transfer, and the wait for the neighbour."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Time in which nothing ran."}
  - {name: other_communication_ns, type: duration, unit: ns, label: "other exposed communication", priority: 2, doc: "Time in which another communication kernel ran and no compute kernel did. It is not a bubble."}
  - {name: behind_first_ns, type: duration, unit: ns, label: "start after first stage", priority: 2, doc: "From the first operation of the earliest stage to the first one of this stage, which its window does not have; null if the clocks are not aligned."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: gpu_id, type: id, label: "GPU", priority: 3, doc: "GPU of the rank."}
checks:
  - bubble_ns = exposed_p2p_ns + idle_ns
  - stage < stage_count
when_empty: "no rank sends to another one, or the ranks that do are not a pipeline"
limits: >-
  Ranks that send to each other are taken for a pipeline if each does so with its neighbours by rank only; the last one
  may also send to the first, as in interleaved schedules. That is an inference: other programs send between neighbours,
  too. Idle time has other causes than the pipeline, such as a slow host. Use --iter to leave out the start of the
  program. Sends and receives need payloads of NCCL or a trace of PyTorch: see point_to_point.
see_also: [point_to_point, point_to_point_waits, communicator_roles, gpu_time]
---*/
WITH RECURSIVE
own AS (
  SELECT
    side,
    report,
    pid,
    communicator,
    CASE
      WHEN max(rank) IS NOT NULL THEN max(rank)
      WHEN max(rank_count) = 2 AND min(peer) = max(peer) THEN 1 - max(peer)
    END AS rank,
    sum(CASE WHEN direction = 'send' THEN 1 ELSE 0 END) AS send_count,
    sum(CASE WHEN direction = 'receive' THEN 1 ELSE 0 END) AS receive_count
  FROM point_to_point
  GROUP BY side, report, pid, communicator
),
known AS (
  SELECT
    own.side,
    own.report,
    own.pid,
    own.communicator,
    own.rank,
    own.send_count,
    own.receive_count,
    max(ranks.rank) AS program_rank
  FROM own
  LEFT JOIN ranks
    ON ranks.side = own.side
    AND ranks.pid = own.pid
    AND ranks.gpu_count = 1
  WHERE own.rank IS NOT NULL
  GROUP BY own.side, own.report, own.pid, own.communicator, own.rank, own.send_count, own.receive_count
),
-- A process, in all of its communicators if its rank in the program is known.
named AS (
  SELECT
    known.*,
    CASE
      WHEN program_rank IS NOT NULL THEN 'rank ' || program_rank
      ELSE communicator || ' ' || rank
    END AS node,
    coalesce(program_rank, rank) AS shown_rank
  FROM known
),
edge AS (
  SELECT DISTINCT named.node, other.node AS other_node
  FROM point_to_point AS op
  JOIN named
    ON named.side = op.side
    AND named.pid = op.pid
    AND named.communicator = op.communicator
  JOIN named AS other
    ON other.communicator = op.communicator
    AND other.rank = op.peer
),
linked AS (
  SELECT node, other_node
  FROM edge
  UNION
  SELECT other_node, node
  FROM edge
),
reached AS (
  SELECT node AS from_node, other_node AS node
  FROM linked
  UNION
  SELECT reached.from_node, linked.other_node
  FROM reached
  JOIN linked
    ON linked.node = reached.node
),
grouped AS (
  SELECT node, min(from_node) AS root
  FROM reached
  GROUP BY node
),
process AS (
  SELECT
    named.side,
    named.report,
    named.pid,
    named.node,
    grouped.root,
    min(named.shown_rank) AS shown_rank,
    sum(named.send_count) AS send_count,
    sum(named.receive_count) AS receive_count
  FROM named
  JOIN grouped
    ON grouped.node = named.node
  GROUP BY named.side, named.report, named.pid, named.node, grouped.root
),
staged AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY root ORDER BY shown_rank, side, pid) - 1 AS stage,
    count(*) OVER (PARTITION BY root) AS stage_count
  FROM process
),
-- Pipelines that have a link between two stages that are not neighbours are none.
chain AS (
  SELECT a.root
  FROM linked
  JOIN staged AS a
    ON a.node = linked.node
  JOIN staged AS b
    ON b.node = linked.other_node
  GROUP BY a.root
  HAVING sum(CASE WHEN abs(a.stage - b.stage) IN (1, a.stage_count - 1) THEN 0 ELSE 1 END) = 0
),
timed AS (
  SELECT
    staged.*,
    dense_rank() OVER (ORDER BY staged.root) - 1 AS pipeline,
    time.gpu_id,
    time.window_ns,
    time.compute_ns,
    time.exposed_p2p_ns,
    time.idle_ns,
    time.other_communication_ns,
    time.start_ns + clock.offset_ns + 1e-6 * clock.drift_ppm * (time.start_ns - clock.at_ns) AS aligned_ns
  FROM staged
  JOIN chain
    ON chain.root = staged.root
  JOIN pipeline_time AS time
    ON time.side = staged.side
    AND time.pid = staged.pid
  LEFT JOIN rank_clocks AS clock
    ON clock.side = staged.side
)
SELECT
  pipeline,
  stage,
  shown_rank AS rank,
  stage_count,
  send_count,
  receive_count,
  window_ns,
  compute_ns,
  exposed_p2p_ns + idle_ns AS bubble_ns,
  100.0 * (exposed_p2p_ns + idle_ns) / nullif(window_ns, 0) AS bubble_pct,
  exposed_p2p_ns,
  idle_ns,
  other_communication_ns,
  CASE
    WHEN count(aligned_ns) OVER same = count(*) OVER same
      THEN CAST(round(aligned_ns - min(aligned_ns) OVER same) AS BIGINT)
  END AS behind_first_ns,
  report,
  pid,
  gpu_id
FROM timed
WINDOW same AS (PARTITION BY pipeline)
ORDER BY pipeline, stage, gpu_id, side, report, pid, node, root
