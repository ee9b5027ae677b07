/*---
name: diff_places
version: 1
title: Steps aligned
summary: Each name in each place of the median steps of A and B, aligned by sequence.
why: To tell what was added, removed or replaced, whatever its name is.
kind: sum
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [diff_sequence]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: block, type: int, priority: 0, doc: "Place in the step: operations of A and B with the same number stand in the same place."}
  - {name: is_b, type: bool, label: "B", priority: 0, doc: "Whether this is in the step of B."}
  - {name: name, type: text, priority: 0, doc: "Name of the operations."}
  - {name: numbers, type: text, priority: 3, doc: "The name without numbers, by which operations are aligned."}
  - {name: replaced_by, type: int, priority: 2, doc: "Names that only one side has and that stand in each other's places have the same number; null for all others."}
  - {name: launches, type: int, unit: count, priority: 1, doc: "Operations of this name in this place."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their durations."}
when_empty: "a side has no steps"
limits: >-
  The median step of the first run of each side stands for all. Operations are aligned by name, then runs of operations by class.
see_also: [diff_sequence, diff_replaced]
---*/
WITH
op AS MATERIALIZED (
  SELECT
    op.side > 0 AS is_b,
    op.rank AS place,
    named.name,
    without_numbers(named.name) AS numbers,
    op.class,
    op.dur_ns
  FROM diff_sequence AS op
  JOIN diff_sequence AS named
    ON named.side = op.side
    AND named.rank = op.name_rank
  WHERE op.side IN (0, :runs_a)
),
aligned AS MATERIALIZED (
  SELECT
    json_extract(value, '$[0]') AS is_b,
    json_extract(value, '$[1]') AS place,
    json_extract(value, '$[2]') AS block,
    json_extract(value, '$[3]') AS replaced_by
  FROM json_each((SELECT aligned(is_b, place, numbers, class) FROM op))
)
SELECT
  aligned.block,
  op.is_b,
  op.name,
  op.numbers,
  min(aligned.replaced_by) AS replaced_by,
  count(*) AS launches,
  sum(op.dur_ns) AS total_ns
FROM op
JOIN aligned
  ON aligned.is_b = op.is_b
  AND aligned.place = op.place
WHERE (SELECT count(DISTINCT is_b) = 2 FROM op)
GROUP BY aligned.block, op.is_b, op.name
ORDER BY aligned.block, op.is_b, op.name
