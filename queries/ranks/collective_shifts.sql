/*---
name: collective_shifts
version: 1
title: Shifts between orders of collectives
summary: Which collective of one report is the first one of another report.
why: To match the collectives of captures that begin or end at different steps.
kind: info
tags: [communication, gpu, nvtx]
reads: []
asks: [capture_clock, collectives]
across: true
columns:
  - {name: side, type: int, priority: 0, doc: "Position of the report, from 0."}
  - {name: communicator, type: text, priority: 0, doc: "Communicator, as in collectives."}
  - {name: to_side, type: int, priority: 0, doc: "Position of the report whose places count: the first one that has the communicator."}
  - {name: shift, type: int, priority: 0, doc: "What must be added to a place of the report to get that of the other one."}
  - {name: collective_count, type: int, unit: count, label: "compared collectives", priority: 1, doc: "Collectives whose ends were compared, at most 512."}
  - {name: moved_ns, type: duration, unit: ns, label: "ends move by", priority: 1, doc: "By how much the difference between the ends changes from one collective to the next: less in three of four."}
  - {name: next_moved_ns, type: duration, unit: ns, label: "with the next best shift", priority: 1, doc: "The same with the shift that fits second best; null if none has the same operations and sizes."}
when_empty: "no two reports have collectives that fit each other with one shift better than with others"
limits: >-
  All ranks end a collective together, so the ends of both reports run in step with the right shift only: moved_ns must be at most half
  of next_moved_ns. Tried are shifts of up to 16 around none, and around what UTC says where both reports record it, among
  the 512 collectives in the middle. Traces of PyTorch number their collectives; they have no shift.
see_also: [clock_steps, collective_arrivals, collectives]
---*/
WITH
clock AS MATERIALIZED (
  SELECT side, min(utc_start_ns) AS utc_start_ns
  FROM capture_clock
  GROUP BY side
),
ended AS MATERIALIZED (
  SELECT
    side,
    communicator,
    sequence,
    max(start_ns + dur_ns) AS end_ns,
    max(operation) AS operation,
    max(coalesce(size_bytes, -1)) AS size_bytes
  FROM collectives
  WHERE dur_ns IS NOT NULL
    AND source <> 'trace'
    -- The root of a broadcast can end long before the others.
    AND operation IN ('AllReduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Barrier', 'SendRecv')
  GROUP BY side, communicator, sequence
),
leader AS MATERIALIZED (
  SELECT communicator, min(side) AS side
  FROM ended
  GROUP BY communicator
  HAVING min(side) < max(side)
),
-- By the wall clock: the place that the other report has reached when a collective ends.
reached AS (
  SELECT
    ended.side,
    leader.side AS to_side,
    ended.communicator,
    ended.sequence,
    max(CASE WHEN ended.side = leader.side THEN ended.sequence END) OVER (
      PARTITION BY ended.communicator
      ORDER BY clock.utc_start_ns + ended.end_ns, ended.side, ended.sequence
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS to_sequence
  FROM ended
  JOIN leader
    ON leader.communicator = ended.communicator
  JOIN clock
    ON clock.side = ended.side
),
around AS (
  SELECT side, communicator, CAST(median(coalesce(to_sequence, -1) - sequence) AS BIGINT) AS shift
  FROM reached
  WHERE side <> to_side
  GROUP BY side, communicator
  UNION
  SELECT DISTINCT ended.side, ended.communicator, 0
  FROM ended
  JOIN leader
    ON leader.communicator = ended.communicator
    AND leader.side <> ended.side
),
digit AS (
  SELECT 0 AS digit
  UNION ALL
  SELECT 1
  UNION ALL
  SELECT 2
  UNION ALL
  SELECT 3
  UNION ALL
  SELECT 4
  UNION ALL
  SELECT 5
),
-- From 16 less to 16 more.
candidate AS MATERIALIZED (
  SELECT DISTINCT around.side, around.communicator, around.shift + 6 * high.digit + low.digit - 16 AS shift
  FROM around
  CROSS JOIN digit AS high
  CROSS JOIN digit AS low
  WHERE 6 * high.digit + low.digit <= 32
),
numbered AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY side, communicator ORDER BY sequence) AS place,
    count(*) OVER (PARTITION BY side, communicator) AS own_count
  FROM ended
),
middle AS MATERIALIZED (
  SELECT *
  FROM numbered
  WHERE abs(2 * place - own_count) <= 512
),
pair AS (
  SELECT
    own.side,
    own.communicator,
    leader.side AS to_side,
    candidate.shift,
    own.sequence,
    other.end_ns - own.end_ns AS apart_ns,
    CASE WHEN other.operation = own.operation AND other.size_bytes = own.size_bytes THEN 1 ELSE 0 END AS is_same
  FROM middle AS own
  JOIN leader
    ON leader.communicator = own.communicator
    AND leader.side <> own.side
  JOIN candidate
    ON candidate.side = own.side
    AND candidate.communicator = own.communicator
  JOIN ended AS other
    ON other.communicator = own.communicator
    AND other.side = leader.side
    AND other.sequence = own.sequence + candidate.shift
),
-- From one collective to the next, clocks drift apart by nothing that counts.
moved AS (
  SELECT
    *,
    apart_ns - lag(apart_ns) OVER (PARTITION BY side, communicator, shift ORDER BY sequence) AS moved_ns
  FROM pair
),
rated AS MATERIALIZED (
  SELECT
    side,
    communicator,
    min(to_side) AS to_side,
    shift,
    count(*) AS collective_count,
    percentile(abs(moved_ns), 75) AS moved_ns
  FROM moved
  GROUP BY side, communicator, shift
  -- Fewer say nothing, and the work must be the same.
  HAVING count(*) >= 8
    AND 10 * sum(is_same) >= 9 * count(*)
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY side, communicator ORDER BY moved_ns, abs(shift), shift) AS choice,
    lead(moved_ns) OVER (PARTITION BY side, communicator ORDER BY moved_ns, abs(shift), shift) AS next_moved_ns
  FROM rated
)
SELECT
  side,
  communicator,
  to_side,
  shift,
  collective_count,
  CAST(round(moved_ns) AS BIGINT) AS moved_ns,
  CAST(round(next_moved_ns) AS BIGINT) AS next_moved_ns
FROM ranked
WHERE choice = 1
  AND (next_moved_ns IS NULL OR 2 * moved_ns <= next_moved_ns)
ORDER BY side, communicator
