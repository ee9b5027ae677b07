/*---
name: diff_replaced
version: 1
title: Launches that differ
summary: What was replaced, added or removed in a step, and what is the same.
why: To see what a change did to the work of a step, also where names changed.
kind: sum
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [diff_places]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: what, type: text, priority: 0, doc: "replaced, added, removed or same."}
  - {name: name_a, type: text, label: "name in A", priority: 1, doc: "Names of A in these places, on separate lines; null if it was added, and for all that is the same."}
  - {name: name_b, type: text, label: "name in B", priority: 1, doc: "Names of B in these places; null if it was removed, and for all that is the same."}
  - {name: launches_a, type: int, unit: count, label: "launches in A", priority: 1, doc: "Operations in the median step of A."}
  - {name: launches_b, type: int, unit: count, label: "launches in B", priority: 1, doc: "Operations in the median step of B."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Sum of their durations in A."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "b_ns - a_ns. All rows add up to the change of the time of all operations of the step."}
checks:
  - change_ns = b_ns - a_ns
  - what IN ('replaced', 'added', 'removed', 'same')
when_empty: "a side has no steps"
limits: >-
  As in diff_places: one step of each side, without noise. A place holds several kernels if it was fused or split.
see_also: [diff_places, diff_pairs, diff_rows]
---*/
WITH
block AS (
  SELECT
    block,
    group_concat(iif(is_b, NULL, name), char(10)) AS name_a,
    group_concat(iif(is_b, name, NULL), char(10)) AS name_b,
    coalesce(
      group_concat(iif(is_b, NULL, numbers), char(10)) = group_concat(iif(is_b, numbers, NULL), char(10)),
      0
    ) AS is_same,
    sum(iif(is_b, 0, launches)) AS launches_a,
    sum(iif(is_b, launches, 0)) AS launches_b,
    sum(iif(is_b, 0, total_ns)) AS a_ns,
    sum(iif(is_b, total_ns, 0)) AS b_ns
  FROM (SELECT *, name GLOB '[[]CUDA mem*' AS is_copy FROM diff_places ORDER BY block, name)
  -- A copy does not replace a kernel.
  GROUP BY block, is_copy
),
told AS (
  SELECT
    CASE
      WHEN is_same THEN 'same'
      WHEN name_a IS NULL THEN 'added'
      WHEN name_b IS NULL THEN 'removed'
      ELSE 'replaced'
    END AS what,
    iif(is_same, NULL, name_a) AS name_a,
    iif(is_same, NULL, name_b) AS name_b,
    launches_a,
    launches_b,
    a_ns,
    b_ns
  FROM block
)
SELECT
  what,
  name_a,
  name_b,
  sum(launches_a) AS launches_a,
  sum(launches_b) AS launches_b,
  sum(a_ns) AS a_ns,
  sum(b_ns) AS b_ns,
  sum(b_ns) - sum(a_ns) AS change_ns
FROM told
GROUP BY what, name_a, name_b
ORDER BY what = 'same', max(sum(a_ns), sum(b_ns)) DESC, what, name_a, name_b
