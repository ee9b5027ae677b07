/*---
name: main_collective
version: 1
title: The collective of a step that is exposed
summary: Where one of a step's collectives has most of the exposed time.
why: To tell one large or late collective, such as the last one, from many that do not overlap.
kind: info
internal: true
tags: [communication, gpu]
reads: [gpu_overlap, gpu_window, judged_step]
requires: [gpu_overlap]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE exposed_communication_ns > 0)
params:
  - {name: least_pct, type: real, default: 70, min: 0, max: 100, doc: "Smallest share of the exposed time that it must have, in percent."}
  - {name: least, type: int, default: 3, min: 2, doc: "Fewest collectives of a step."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU with the most exposed time of these."}
  - {name: operation, type: text, priority: 0, doc: "Its operation, such as AllReduce."}
  - {name: place, type: int, label: "place in step", priority: 0, doc: "Its number in each step, from 1, in the order of their starts."}
  - {name: op_count, type: int, unit: count, label: "collectives in a step", priority: 0, doc: "Collectives of each step; all steps have as many."}
  - {name: exposed_pct, type: percent, unit: percent, label: "% of exposed time", priority: 1, doc: "Its share of the time in which collectives of the steps run and no compute kernel does."}
  - {name: dur_ns, type: duration, unit: ns, label: "median", priority: 1, doc: "Median time of the collective at this place."}
  - {name: other_ns, type: duration, unit: ns, label: "median of others", priority: 1, doc: "Median time of those at the other places."}
checks:
  - place BETWEEN 1 AND op_count
limits: Only GPUs with steps of one thread, which all have as many collectives. A collective that starts in no step does not count.
see_also: [exposed_communication, collectives]
---*/
WITH
step AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM judged_step
  WHERE is_step
    AND gpu_id IN (
      SELECT gpu_id
      FROM judged_step
      WHERE is_step
      GROUP BY gpu_id
      HAVING min(pid) = max(pid) AND coalesce(min(tid) = max(tid), true) AND count(*) >= 2
    )
),
op AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      gpu_id,
      op_id,
      collective(op_name) AS operation,
      start_ns,
      dur_ns,
      exposed_ns,
      place_of((SELECT time_places(gpu_id, start_ns, end_ns) FROM step), gpu_id, start_ns) AS step
    FROM gpu_overlap
    WHERE activity = 'communication'
      AND EXISTS (SELECT 1 FROM step)
      AND EXISTS (SELECT 1 FROM gpu_window WHERE exposed_communication_ns > 0)
  )
  WHERE step IS NOT NULL
),
placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id, step ORDER BY start_ns, op_id) AS place,
    count(*) OVER (PARTITION BY gpu_id, step) AS op_count
  FROM op
),
even AS (
  SELECT gpu_id, sum(exposed_ns) AS exposed_ns
  FROM placed
  GROUP BY gpu_id
  HAVING min(op_count) = max(op_count)
    AND min(op_count) >= :least
    AND count(DISTINCT step) >= 2
),
at_place AS MATERIALIZED (
  SELECT
    placed.gpu_id,
    placed.place,
    placed.op_count,
    min(placed.operation) AS operation,
    sum(placed.exposed_ns) AS place_ns,
    even.exposed_ns,
    median(placed.dur_ns) AS dur_ns,
    count(DISTINCT placed.operation) AS operations
  FROM even
  JOIN placed
    ON placed.gpu_id = even.gpu_id
  GROUP BY placed.gpu_id, placed.place
)
SELECT
  gpu_id,
  operation,
  place,
  op_count,
  100.0 * place_ns / nullif(exposed_ns, 0) AS exposed_pct,
  CAST(dur_ns AS INTEGER) AS dur_ns,
  (
    SELECT CAST(median(other.dur_ns) AS INTEGER)
    FROM at_place AS other
    WHERE other.gpu_id = at_place.gpu_id
      AND other.place <> at_place.place
  ) AS other_ns
FROM at_place
WHERE operations = 1
  AND 100.0 * place_ns >= :least_pct * exposed_ns
  AND place_ns > 0
ORDER BY place_ns DESC, gpu_id, place
LIMIT 1
