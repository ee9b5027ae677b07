/*---
name: step_ranges
version: 2
title: Ranges of the marked steps
summary: Host time of the ranges that mark steps, and of the longest in them.
why: Ranges on the host are complete even where GPU work is missing from the report.
kind: info
internal: true
tags: [nvtx]
reads: [iteration, nvtx_name, nvtx_path, nvtx_projection]
requires: [iteration, nvtx_projection]
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "0 for the steps, then from 1, most time first."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Name of the range; of the steps, with each number replaced by *."}
  - {name: step_ns, type: duration, unit: ns, label: "time per step", priority: 0, doc: "Mean host time in a step."}
  - {name: step_pct, type: percent, unit: percent, label: "% of step", priority: 0, doc: "step_ns as a share of the mean step."}
  - {name: min_ns, type: duration, unit: ns, label: "shortest", priority: 1, doc: "Shortest of these ranges."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Longest of these ranges."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Number of these ranges."}
checks:
  - min_ns <= max_ns
limits: Operators of PyTorch do not count, nor do ranges of other threads. A range in another one counts in both.
see_also: [iterations, nvtx_sum]
---*/
WITH
turn AS MATERIALIZED (
  SELECT range_id, layer_name, start_ns, end_ns, dur_ns, global_tid
  FROM iteration
  WHERE iteration_count > 1
),
placed AS MATERIALIZED (
  SELECT time_places(global_tid, start_ns, end_ns) AS places
  FROM turn
),
whole AS (
  SELECT count(*) AS turn_count, sum(dur_ns) AS total_ns
  FROM turn
),
-- A report has far fewer paths than names.
counted AS MATERIALIZED (
  SELECT path_id
  FROM nvtx_path
  WHERE NOT (layer_name GLOB 'cpu_op:*' OR layer_name GLOB 'aten::*' OR layer_name = '(unnamed)')
),
inner_range AS (
  SELECT
    name_id,
    dur_ns,
    place_of((SELECT places FROM placed), global_tid, start_ns) AS first_turn,
    place_of((SELECT places FROM placed), global_tid, max(end_ns - 1, start_ns)) AS last_turn
  FROM nvtx_projection
  WHERE path_id IN (SELECT path_id FROM counted)
    AND range_id NOT IN (SELECT range_id FROM turn)
),
-- GROUP BY would sort all ranges. The shortest and the longest are the extents of the lengths.
measured AS MATERIALIZED (
  SELECT sums_by(dur_ns, name_id) AS sums, extents(name_id, dur_ns, dur_ns) AS lengths
  FROM inner_range
  WHERE first_turn = last_turn
),
length AS MATERIALIZED (
  SELECT v0 AS name_id, v2 AS min_ns, v3 AS max_ns
  FROM json_rows((SELECT lengths FROM measured))
),
by_name AS MATERIALIZED (
  SELECT sums.v0 AS name_id, sums.v2 AS total_ns, length.min_ns, length.max_ns, sums.v1 AS range_count
  FROM json_rows((SELECT sums FROM measured)) AS sums
  JOIN length
    ON length.name_id = sums.v0
),
summed AS (
  SELECT
    0 AS section,
    min(layer_name) AS range_name,
    sum(dur_ns) AS total_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    count(*) AS range_count
  FROM turn
  HAVING count(*) > 0
  UNION ALL
  SELECT
    1,
    nvtx_name.range_name,
    sum(by_name.total_ns),
    min(by_name.min_ns),
    max(by_name.max_ns),
    sum(by_name.range_count)
  FROM by_name
  JOIN nvtx_name
    ON nvtx_name.name_id = by_name.name_id
  GROUP BY nvtx_name.range_name
)
SELECT
  row_number() OVER (ORDER BY summed.section, summed.total_ns DESC, summed.range_name) - 1 AS rank,
  summed.range_name,
  summed.total_ns / whole.turn_count AS step_ns,
  100.0 * summed.total_ns / nullif(whole.total_ns, 0) AS step_pct,
  summed.min_ns,
  summed.max_ns,
  summed.range_count
FROM summed
CROSS JOIN whole
ORDER BY rank
LIMIT 6
