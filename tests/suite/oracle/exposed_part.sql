/*---
name: exposed_part_oracle
version: 1
title: Exposed parts in plain SQL
summary: What exposed_part says, computed by a sweep in SQL over the work that hides it.
why: To hold the native relation against an independent computation.
kind: trace
tags: [gpu]
reads: [gpu_busy, gpu_overlap, scope]
columns:
  - {name: gpu_id, type: id, doc: "As in exposed_part."}
  - {name: activity, type: text, doc: "As in exposed_part."}
  - {name: op_kind, type: text, doc: "As in exposed_part."}
  - {name: op_id, type: id, doc: "As in exposed_part."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "As in exposed_part."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "As in exposed_part."}
limits: "Reads gpu_overlap and gpu_busy, which are native too."
see_also: [gpu_time]
---*/
WITH
op AS (
  SELECT
    overlap.gpu_id,
    overlap.activity,
    overlap.op_kind,
    overlap.op_id,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns,
    overlap.exposed_ns < overlap.in_window_ns AS is_covered,
    row_number() OVER (
      PARTITION BY overlap.gpu_id, overlap.activity
      ORDER BY overlap.start_ns, overlap.op_kind, overlap.op_id
    ) AS number
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  WHERE overlap.activity IN ('communication', 'memory')
    AND overlap.exposed_ns > 0
  LIMIT -1
),
-- The time up to the latest end of earlier operations is theirs.
own AS (
  SELECT gpu_id, activity, number, max(from_ns, coalesce(max(to_ns) OVER earlier, from_ns)) AS from_ns, to_ns
  FROM op
  WINDOW earlier AS (
    PARTITION BY gpu_id, activity
    ORDER BY number
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
-- Work of a higher rank matters only if it covers a part of an operation.
above AS (
  SELECT gpu_id, 'memory' AS activity, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity IN ('compute', 'communication')
    AND dur_ns > 0
    AND EXISTS (SELECT 1 FROM op WHERE op.activity = 'memory' AND is_covered)
  UNION ALL
  SELECT gpu_id, 'communication', start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'compute'
    AND dur_ns > 0
    AND EXISTS (SELECT 1 FROM op WHERE op.activity = 'communication' AND is_covered)
),
-- A part ends where its operation ends, or where work of a higher rank starts under it.
event AS (
  SELECT gpu_id, activity, to_ns AS at_ns, 'end' AS event, number, from_ns, to_ns, NULL AS above_end_ns
  FROM own
  WHERE from_ns < to_ns
  UNION ALL
  SELECT gpu_id, activity, from_ns, 'start', number, from_ns, to_ns, NULL
  FROM own
  WHERE from_ns < to_ns
  UNION ALL
  SELECT gpu_id, activity, start_ns, 'work above', NULL, NULL, NULL, end_ns
  FROM above
),
-- Operations no longer overlap, so the latest one to start is the one that runs.
swept AS (
  SELECT
    gpu_id,
    activity,
    at_ns,
    iif(event = 'end', number, max(number) OVER earlier) AS number,
    iif(event = 'end', from_ns, max(from_ns) OVER earlier) AS from_ns,
    iif(event = 'end', to_ns, max(to_ns) OVER earlier) AS to_ns,
    max(above_end_ns) OVER earlier AS above_end_ns,
    event
  FROM event
  WINDOW earlier AS (
    PARTITION BY gpu_id, activity
    ORDER BY at_ns, event
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
part AS (
  SELECT
    gpu_id,
    activity,
    number,
    max(from_ns, coalesce(above_end_ns, from_ns)) AS start_ns,
    at_ns AS end_ns
  FROM swept
  WHERE event = 'end'
    OR event = 'work above' AND at_ns < to_ns
)
SELECT
  part.gpu_id,
  part.activity,
  op.op_kind,
  op.op_id,
  part.start_ns,
  part.end_ns
FROM part
JOIN op
  ON op.gpu_id = part.gpu_id
  AND op.activity = part.activity
  AND op.number = part.number
WHERE part.start_ns < part.end_ns
ORDER BY part.gpu_id, part.activity, part.start_ns, op.op_kind, op.op_id
