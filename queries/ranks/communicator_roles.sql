/*---
name: communicator_roles
version: 2
title: What communicators are for
summary: Each communicator with its traffic and the parallelism that it probably serves.
why: To see how a program is split over its ranks.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [collectives, point_to_point, ranks]
across: true
columns:
  - {name: communicator, type: text, priority: 0, doc: "The communicator ID of NCCL; name and ranks of PyTorch's process group."}
  - {name: role, type: text, priority: 0, doc: "pipeline, expert, tensor or data parallel: what the program calls its process group, else an inference, which evidence explains; null if the traffic does not show it."}
  - {name: evidence, type: text, priority: 1, doc: "What the role is inferred from, or why there is none."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of the communicator; those seen if unknown."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 1, doc: "Processes with calls of this communicator."}
  - {name: first_rank, type: int, label: "from rank", priority: 1, doc: "Lowest rank in the whole program that is seen; null if it is unknown for all ranks seen."}
  - {name: last_rank, type: int, label: "to rank", priority: 1, doc: "Highest of these ranks; null as first_rank."}
  - {name: stride, type: int, priority: 1, doc: "Difference of neighbours among these ranks: 1 if they follow each other; null if it is not the same everywhere, with one rank seen, or if a rank is missing."}
  - {name: reduce_count, type: int, unit: count, label: "all-reduces and similar", priority: 2, doc: "Calls of AllReduce, ReduceScatter, AllGather, Reduce and Broadcast per rank seen, on average."}
  - {name: all_to_all_count, type: int, unit: count, label: "all-to-alls", priority: 2, doc: "Calls of AllToAll per rank seen, on average."}
  - {name: p2p_count, type: int, unit: count, label: "sends and receives", priority: 2, doc: "Sends and receives per rank seen, on average."}
  - {name: total_bytes, type: bytes, unit: bytes, label: "bytes per rank", priority: 2, doc: "What these calls move per rank seen, on average; null if unknown."}
when_empty: "no collective, send or receive names its communicator"
limits: >-
  A name such as mesh_tp comes first: other words that it has are listed as they are, such as DP+CP. Other roles are inferred from who talks to whom, as frameworks arrange ranks by default: neighbours that send and receive are
  a pipeline; all-to-alls are of experts; of two sets of communicators that cross each other, the one with ranks side by
  side is tensor parallel, and the one with ranks far apart is data parallel. Other arrangements mislead. A program with
  one communicator of all ranks may be data or tensor parallel, so it has no role. Guessed communicators are left out.
see_also: [collectives, point_to_point, pipeline_bubbles, ranks]
---*/
WITH
use AS (
  SELECT
    side,
    pid,
    gpu_id,
    communicator,
    rank_count,
    size_bytes,
    CASE WHEN operation = 'AllToAll' THEN 'all to all' ELSE 'reduce' END AS kind,
    CAST(NULL AS BIGINT) AS distance,
    group_name,
    role
  FROM collectives
  WHERE source <> 'guess'
  UNION ALL
  SELECT side, pid, gpu_id, communicator, rank_count, size_bytes, 'p2p', abs(peer - rank), NULL, NULL
  FROM point_to_point
),
member AS (
  SELECT
    use.communicator,
    use.side,
    use.pid,
    use.gpu_id,
    max(ranks.rank) AS program_rank,
    max(ranks.rank_count) AS program_count,
    max(use.rank_count) AS rank_count,
    sum(CASE WHEN use.kind = 'reduce' THEN 1 ELSE 0 END) AS reduce_count,
    sum(CASE WHEN use.kind = 'all to all' THEN 1 ELSE 0 END) AS all_to_all_count,
    sum(CASE WHEN use.kind = 'p2p' THEN 1 ELSE 0 END) AS p2p_count,
    sum(
      CASE WHEN use.kind = 'p2p' AND use.distance > 1 AND use.distance <> use.rank_count - 1 THEN 1 ELSE 0 END
    ) AS far_count,
    sum(use.size_bytes) AS total_bytes,
    min(use.group_name) AS group_name,
    min(use.role) AS said_role
  FROM use
  LEFT JOIN ranks
    ON ranks.side = use.side
    AND ranks.pid = use.pid
    AND ranks.gpu_count = 1
  GROUP BY use.communicator, use.side, use.pid, use.gpu_id
),
spaced AS (
  SELECT
    *,
    program_rank - lag(program_rank) OVER (PARTITION BY communicator ORDER BY program_rank, side, pid) AS step
  FROM member
),
summed AS (
  SELECT
    communicator,
    coalesce(max(rank_count), count(*)) AS rank_count,
    count(*) AS seen_count,
    max(program_count) AS program_count,
    CASE WHEN count(program_rank) = count(*) THEN min(program_rank) END AS first_rank,
    CASE WHEN count(program_rank) = count(*) THEN max(program_rank) END AS last_rank,
    CASE
      WHEN count(program_rank) = count(*)
        AND count(*) = coalesce(max(rank_count), count(*))
        AND min(step) = max(step)
        THEN min(step)
    END AS stride,
    CAST(round(avg(reduce_count)) AS BIGINT) AS reduce_count,
    CAST(round(avg(all_to_all_count)) AS BIGINT) AS all_to_all_count,
    CAST(round(avg(p2p_count)) AS BIGINT) AS p2p_count,
    sum(far_count) AS far_count,
    CAST(round(avg(total_bytes)) AS BIGINT) AS total_bytes,
    min(group_name) AS group_name,
    min(said_role) AS said_role
  FROM spaced
  GROUP BY communicator
),
-- Communicators with ranks side by side that share a rank with one whose ranks are farther apart.
crossing AS (
  SELECT DISTINCT near.communicator AS near_communicator, far.communicator AS far_communicator
  FROM summed AS near
  JOIN member AS a
    ON a.communicator = near.communicator
  JOIN member AS b
    ON b.program_rank = a.program_rank
  JOIN summed AS far
    ON far.communicator = b.communicator
  WHERE near.stride = 1
    AND far.stride >= near.rank_count
    AND near.reduce_count > 0
    AND far.reduce_count > 0
)
SELECT
  communicator,
  CASE
    WHEN said_role = 'PP' THEN 'pipeline'
    WHEN said_role = 'EP' THEN 'expert'
    WHEN said_role = 'TP' THEN 'tensor'
    WHEN said_role = 'DP' THEN 'data'
    WHEN said_role IS NOT NULL THEN said_role
    WHEN p2p_count > reduce_count + all_to_all_count AND far_count = 0 THEN 'pipeline'
    WHEN all_to_all_count > 0 AND all_to_all_count >= p2p_count THEN 'expert'
    WHEN near_side.near_communicator IS NOT NULL THEN 'tensor'
    WHEN far_side.far_communicator IS NOT NULL THEN 'data'
  END AS role,
  CASE
    WHEN said_role IS NOT NULL THEN 'the program calls its group ' || group_name
    WHEN p2p_count > reduce_count + all_to_all_count AND far_count = 0
      THEN 'mostly sends and receives between neighbours'
    WHEN all_to_all_count > 0 AND all_to_all_count >= p2p_count THEN 'all-to-alls'
    WHEN near_side.near_communicator IS NOT NULL
      THEN 'reductions of ranks side by side, which other reductions cross with a larger stride'
    WHEN far_side.far_communicator IS NOT NULL
      THEN 'reductions of ranks far apart, which cross those of ranks side by side'
    WHEN first_rank IS NULL THEN 'cannot tell: ranks of the whole program are unknown'
    WHEN seen_count < rank_count THEN 'cannot tell: not all ranks are seen'
    WHEN rank_count = program_count THEN 'cannot tell: reductions of all ranks may be data or tensor parallel'
    ELSE 'cannot tell: no other communicator crosses it'
  END AS evidence,
  rank_count,
  seen_count,
  first_rank,
  last_rank,
  stride,
  reduce_count,
  all_to_all_count,
  p2p_count,
  total_bytes
FROM summed
LEFT JOIN (SELECT DISTINCT near_communicator FROM crossing) AS near_side
  ON near_side.near_communicator = summed.communicator
LEFT JOIN (SELECT DISTINCT far_communicator FROM crossing) AS far_side
  ON far_side.far_communicator = summed.communicator
ORDER BY rank_count DESC, first_rank, communicator
