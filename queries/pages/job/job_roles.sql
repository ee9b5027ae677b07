/*---
name: job_roles
version: 1
title: How the job is split
summary: Communicators with the same role, size and stride, in one row.
why: To see at a glance how a program is split over its ranks.
kind: sum
tags: [communication]
internal: true
reads: []
asks: [communicator_roles]
across: true
columns:
  - {name: role, type: text, priority: 0, doc: "By the name of the process group, else as in communicator_roles; null if unknown."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of each of these communicators."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 1, doc: "The fewest ranks that are seen of a communicator."}
  - {name: stride, type: int, priority: 1, doc: "As in communicator_roles."}
  - {name: communicator_count, type: int, unit: count, label: "communicators", priority: 0, doc: "Communicators of this kind."}
  - {name: first_rank, type: int, label: "from rank", priority: 1, doc: "First rank of the first communicator; null if unknown."}
  - {name: last_rank, type: int, label: "to rank", priority: 1, doc: "Its last rank; null if unknown."}
  - {name: total_bytes, type: bytes, unit: bytes, label: "bytes per rank", priority: 1, doc: "What a rank moves in a communicator, on average; null if unknown."}
  - {name: evidence, type: text, priority: 1, doc: "As in communicator_roles."}
when_empty: "no collective, send or receive names its communicator"
limits: See communicator_roles.
see_also: [communicator_roles]
---*/
WITH
-- What the name of a process group says, such as tp or MESH_TP [0, 1].
named AS (
  SELECT
    communicator,
    CASE
      WHEN communicator GLOB '[eE][pP][_ -]*'
        OR communicator GLOB '*[_-][eE][pP][_ -]*'
        OR communicator GLOB '*[eE][xX][pP][eE][rR][tT]*'
        THEN 'expert'
      WHEN communicator GLOB '[pP][pP][_ -]*'
        OR communicator GLOB '*[_-][pP][pP][_ -]*'
        OR communicator GLOB '*[pP][iI][pP][eE][lL][iI][nN][eE]*'
        THEN 'pipeline'
      WHEN communicator GLOB '[tT][pP][_ -]*'
        OR communicator GLOB '*[_-][tT][pP][_ -]*'
        OR communicator GLOB '*[tT][eE][nN][sS][oO][rR]*'
        THEN 'tensor'
      WHEN communicator GLOB '[dD][pP][_ -]*'
        OR communicator GLOB '*[_-][dD][pP][_ -]*'
        OR communicator GLOB '*[fF][sS][dD][pP]*'
        OR communicator GLOB '*[dD][aA][tT][aA]*'
        THEN 'data'
    END AS role
  FROM communicator_roles
),
known AS (
  SELECT
    roles.communicator,
    coalesce(named.role, roles.role) AS role,
    roles.rank_count,
    roles.seen_count,
    roles.stride,
    roles.first_rank,
    roles.last_rank,
    roles.total_bytes,
    iif(named.role IS NOT NULL, 'the name of the process group', roles.evidence) AS evidence
  FROM communicator_roles AS roles
  JOIN named
    ON named.communicator = roles.communicator
),
placed AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY role, rank_count, stride, evidence
      ORDER BY first_rank NULLS FIRST, communicator
    ) AS choice
  FROM known
)
SELECT
  role,
  rank_count,
  min(seen_count) AS seen_count,
  stride,
  count(*) AS communicator_count,
  min(CASE WHEN choice = 1 THEN first_rank END) AS first_rank,
  min(CASE WHEN choice = 1 THEN last_rank END) AS last_rank,
  CAST(round(avg(total_bytes)) AS BIGINT) AS total_bytes,
  evidence
FROM placed
GROUP BY role, rank_count, stride, evidence
ORDER BY role IS NULL, rank_count DESC, role, stride, evidence
