/*---
name: diff_regressions
version: 4
title: Regressions
summary: What is slower in B by more than noise and more than the limit.
why: To decide whether a change may land.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_costs, diff_rows, diff_whole]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
  - {name: gate, type: real, min: 0, doc: "Percent by which something must be slower to be a regression; any slowdown beyond noise if not set."}
  - {name: gate_parts, type: bool, default: false, doc: "Whether a slower part is a regression whatever the whole is."}
  - {name: gate_api, type: bool, default: false, doc: "Whether slower API functions are regressions."}
columns:
  - {name: what, type: text, priority: 0, doc: "step, window, or the section of a row: total, kernels, memory, layers or api."}
  - {name: name, type: text, priority: 0, doc: "Name in B; several names are on separate lines; null for the whole."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Time of the whole in A; for a row, cost_a_ns of diff_rows."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_pct, type: percent, unit: percent, label: "change of cost", priority: 1, doc: "By how much B is slower; null if A took no time."}
  - {name: noise_pct, type: percent, unit: percent, label: "noise bound", priority: 1, doc: "The noise bound, as a share of A's cost."}
  - {name: is_offset, type: bool, label: "offset", priority: 1, doc: "Whether this is only reported, because the whole can be judged."}
  - {name: row_id, type: id, priority: 3, doc: "Number of the row in diff_rows; 0 for the whole."}
when_empty: "nothing is slower by more than noise and the limit"
limits: >-
  A whole that can be judged decides alone, unless gate_parts is given. Rows count with at least 1 % of their section; copies and fills only with 1 % of the GPU work. Rows that are only reported have 0.5 % of A's step or window. The total of kernels counts if the whole cannot be
  judged: if it holds different work, or if a change of the limit may hide in its noise. Layers count only if no side
  has kernels, since they hold the same work. API functions count only if asked for: a call that waits takes longer when
  the CPU gets faster.
see_also: [diff_verdict, diff_rows]
---*/
WITH
whole AS MATERIALIZED (
  SELECT
    per,
    verdict,
    a_ns,
    b_ns,
    change_pct,
    noise_pct,
    verdict = 'cannot tell' OR verdict = 'within noise' AND coalesce(detectable_pct > coalesce(:gate, 0), 1) AS is_open
  FROM diff_whole
  WHERE part = 'time'
),
gpu_work AS MATERIALIZED (
  SELECT
    sum(total_ns) AS total_ns,
    coalesce(sum(total_ns) FILTER (WHERE section = 'memory'), 0) AS memory_ns
  FROM diff_costs
  WHERE section IN ('kernels', 'memory')
),
slower AS (
  SELECT
    section,
    coalesce(name_b, name_a) AS name,
    cost_a_ns,
    cost_b_ns,
    cost_change_pct,
    noise_pct,
    section <> 'total' AND coalesce((SELECT verdict <> 'cannot tell' FROM whole), 0) AND NOT :gate_parts AS is_offset,
    step_pct,
    row_id
  FROM diff_rows
  WHERE verdict = 'slower'
    AND is_relevant
    AND (:gate IS NULL OR cost_change_pct IS NULL OR cost_change_pct > :gate)
    AND CASE section
      WHEN 'kernels' THEN 1
      WHEN 'total' THEN (SELECT is_open FROM whole) AND name = 'kernels'
      WHEN 'memory' THEN (SELECT 100.0 * memory_ns >= total_ns FROM gpu_work)
      WHEN 'layers' THEN (SELECT total_ns IS NULL FROM gpu_work)
      WHEN 'api' THEN :gate_api
      ELSE 0
    END
)
SELECT
  per AS what,
  NULL AS name,
  a_ns,
  b_ns,
  change_pct,
  noise_pct,
  0 AS is_offset,
  0 AS row_id
FROM whole
WHERE verdict = 'slower'
  AND (:gate IS NULL OR change_pct IS NULL OR change_pct > :gate)
UNION ALL
SELECT
  section,
  name,
  cost_a_ns,
  cost_b_ns,
  cost_change_pct,
  noise_pct,
  is_offset,
  row_id
FROM slower
-- What the whole offsets is listed if it matters.
WHERE NOT is_offset
  OR coalesce(step_pct >= 0.5, 1)
ORDER BY row_id
