/*---
name: diff_rows
version: 4
title: What changed
summary: Each kernel, class, layer, copy or call that differs, largest change first.
why: To see what got faster or slower, by how much, and whether it is more than noise.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_costs, diff_pairs, diff_runs, diff_whole, diff_windows]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
columns:
  - {name: section, type: text, priority: 0, doc: "total, kernels, classes, layers, nccl, memory or api. total is all kernels, or all copies and fills (memory). layers is GPU time of NVTX ranges, or their CPU time if no range launched GPU work."}
  - {name: verdict, type: text, priority: 0, doc: "Cost of B's work against A's: slower, faster, within noise, cannot tell, only in A or only in B."}
  - {name: reason, type: text, priority: 1, doc: "What the verdict rests on: launch shape changed, path changed or size changed (then the sums are compared), replaced (another kernel in the same place of the step), a group of kernels, one call; for cannot tell, why: one call, other shapes, or in graphs (one side's kernels are in CUDA graphs that were traced as a whole). Null if like is compared with like."}
  - {name: name_a, type: text, label: "name in A", priority: 2, doc: "Name in A; several names that are compared together are on separate lines; null if only B has it."}
  - {name: name_b, type: text, label: "name in B", priority: 2, doc: "Name in B; null if only A has it."}
  - {name: match, type: text, priority: 3, doc: "How the names were matched, as in diff_pairs; sum for totals, classes and collectives."}
  - {name: calls_a, type: int, unit: count, priority: 1, doc: "Calls or ranges in A, over all its steps and runs."}
  - {name: calls_b, type: int, unit: count, priority: 1, doc: "The same in B."}
  - {name: total_a_ns, type: duration, unit: ns, priority: 2, doc: "Sum of their durations in A; overlaps count in full."}
  - {name: total_b_ns, type: duration, unit: ns, priority: 2, doc: "The same in B."}
  - {name: mean_a_ns, type: duration, unit: ns, priority: 1, doc: "total_a_ns / calls_a; null without calls."}
  - {name: mean_b_ns, type: duration, unit: ns, priority: 1, doc: "total_b_ns / calls_b; null without calls."}
  - {name: share_a_pct, type: percent, unit: percent, label: "share of the section in A", priority: 3, doc: "total_a_ns as a share of the section's, for classes and collectives of all kernels'; null for layers, which nest."}
  - {name: share_b_pct, type: percent, unit: percent, label: "share of the section in B", priority: 3, doc: "The same in B."}
  - {name: per, type: text, priority: 2, doc: "What the next seven columns refer to: step or report."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "Change of the time, B - A: exactly the sum of the next three columns."}
  - {name: calls_effect_ns, type: duration, unit: ns, label: "by calls", priority: 2, doc: "Change from more or fewer calls: (calls in B - calls in A) x mean in A, for each launch shape or size that both have."}
  - {name: cost_effect_ns, type: duration, unit: ns, label: "by cost", priority: 2, doc: "Change from the cost of B's calls: the rest for these shapes and sizes."}
  - {name: other_effect_ns, type: duration, unit: ns, label: "by other shapes", priority: 2, doc: "Change from shapes, sizes and names that are not compared like with like."}
  - {name: step_pct, type: percent, unit: percent, label: "of the whole", priority: 1, doc: "change_ns of each GPU as a share of A's time of a step, or of its window; null without GPU work."}
  - {name: cost_a_ns, type: duration, unit: ns, label: "judged in A", priority: 1, doc: "What the verdict compares: the cost of B's calls at A's mean times, per step or report; of the sums where reason says so. Null if nothing is comparable."}
  - {name: cost_b_ns, type: duration, unit: ns, label: "judged in B", priority: 1, doc: "The same at B's."}
  - {name: cost_change_pct, type: percent, unit: percent, label: "change of cost", priority: 1, doc: "Change of the cost of the same calls, or of the sums where reason says so, as a share of A's; null if nothing is comparable."}
  - {name: noise_pct, type: percent, unit: percent, label: "noise bound", priority: 1, doc: "A cost_change_pct within plus or minus this is within noise. The confidence holds for all rows of a section together."}
  - {name: compared_pct, type: percent, unit: percent, label: "comparable share of time", priority: 2, doc: "Share of the row's time behind cost_change_pct: the smaller of the shares in A and B. Below 50 the verdict is cannot tell."}
  - {name: is_relevant, type: bool, label: "relevant", priority: 3, doc: "Whether the row has 1 % of its section, on one side."}
  - {name: pair_id, type: id, priority: 3, doc: "Number of the pair in diff_pairs; null for totals, classes and collectives."}
  - {name: row_id, type: id, priority: 3, doc: "Number of the row in this comparison."}
checks:
  - verdict IN ('slower', 'faster', 'within noise', 'cannot tell', 'only in A', 'only in B')
  - change_ns = calls_effect_ns + cost_effect_ns + other_effect_ns
limits: >-
  With one run on each side, the noise bound comes from the spread within each run, and is at least 0.5 %. Runs can differ
  by more, by clocks or temperature. Rows without any difference are left out. Totals, classes and collectives are sums of
  other rows; layers nest, so do not add them up.
see_also: [diff_whole, diff_pairs, diff_strata]
---*/
WITH
unit AS MATERIALIZED (
  SELECT
    min(iteration_count) > 0 AS is_per_iteration,
    count(*) = 2 AS is_one_run_each,
    -- Kernels in graphs that were traced as a whole are not there to be compared.
    max(graph_ns > kernel_ns) AND min(graph_ns) = 0 AS is_in_graphs
  FROM diff_runs
),
whole AS MATERIALIZED (
  SELECT
    nullif(a_ns, 0) AS a_ns,
    (SELECT max(n) FROM (SELECT count(DISTINCT gpu_id) AS n FROM diff_windows GROUP BY side)) AS gpus
  FROM diff_whole
  WHERE part = 'time'
),
pair AS MATERIALIZED (
  SELECT
    pair_id,
    count(DISTINCT iif(in_a, name, NULL)) + count(DISTINCT iif(in_b, name, NULL)) AS name_count,
    max(match) AS match
  FROM diff_pairs
  GROUP BY pair_id
),
pair_name AS MATERIALIZED (
  SELECT
    pair_id,
    group_concat(iif(in_a, name, NULL), char(10)) AS name_a,
    group_concat(iif(in_b, name, NULL), char(10)) AS name_b
  FROM (
    SELECT pair_id, name, max(in_a) AS in_a, max(in_b) AS in_b
    FROM diff_pairs
    GROUP BY pair_id, name
    ORDER BY pair_id, name
  )
  GROUP BY pair_id
),
member AS MATERIALIZED (
  SELECT DISTINCT
    section,
    pair_id,
    iif(section = 'layers_cpu', 'layers', section) AS in_section,
    pair_id AS key
  FROM diff_costs
  UNION
  SELECT section, pair_id, 'classes', class
  FROM diff_costs
  WHERE class IS NOT NULL
  UNION
  SELECT section, pair_id, 'nccl', collective
  FROM diff_costs
  WHERE collective IS NOT NULL
  UNION
  SELECT section, pair_id, 'total', section
  FROM diff_costs
  WHERE section IN ('kernels', 'memory')
),
run_cost AS (
  SELECT
    member.in_section,
    member.key,
    cost.run,
    cost.is_b,
    sum(cost.calls) AS calls,
    sum(cost.total_ns) AS total_ns,
    sum(cost.judged_ns) AS judged_ns,
    sum(cost.single_ns) AS single_ns,
    sum(cost.cost_ns) AS cost_ns,
    sum(cost.error_ns) AS error_ns,
    sum(cost.freedom_ns) AS freedom_ns,
    sum(cost.change_ns) AS change_ns,
    sum(cost.calls_effect_ns) AS calls_effect_ns,
    sum(cost.other_effect_ns) AS other_effect_ns,
    max(cost.is_by_total) AS is_by_total,
    max(cost.differs) AS differs
  FROM member
  JOIN diff_costs AS cost
    ON cost.pair_id = member.pair_id
  GROUP BY member.in_section, member.key, cost.run, cost.is_b
),
side AS (
  SELECT
    in_section,
    key,
    coalesce(sum(calls) FILTER (WHERE NOT is_b), 0) AS calls_a,
    coalesce(sum(calls) FILTER (WHERE is_b), 0) AS calls_b,
    coalesce(sum(total_ns) FILTER (WHERE NOT is_b), 0) AS total_a_ns,
    coalesce(sum(total_ns) FILTER (WHERE is_b), 0) AS total_b_ns,
    coalesce(sum(judged_ns) FILTER (WHERE NOT is_b), 0) AS judged_a_ns,
    coalesce(sum(judged_ns) FILTER (WHERE is_b), 0) AS judged_b_ns,
    sum(single_ns) AS single_ns,
    avg(cost_ns) FILTER (WHERE NOT is_b) AS a_ns,
    avg(cost_ns) FILTER (WHERE is_b) AS b_ns,
    difference_error(is_b, cost_ns, error_ns, freedom_ns) AS error_ns,
    difference_freedom(is_b, cost_ns, error_ns, freedom_ns) AS freedom,
    sum(change_ns) AS change_ns,
    sum(calls_effect_ns) AS calls_effect_ns,
    sum(other_effect_ns) AS other_effect_ns,
    max(is_by_total) AS is_by_total,
    max(differs) AS differs
  FROM run_cost
  GROUP BY in_section, key
),
shared AS (
  SELECT
    *,
    iif(
      in_section = 'layers',
      NULL,
      100.0 * total_a_ns / nullif(sum(total_a_ns) OVER (PARTITION BY in_section), 0)
    ) AS share_a_pct,
    iif(
      in_section = 'layers',
      NULL,
      100.0 * total_b_ns / nullif(sum(total_b_ns) OVER (PARTITION BY in_section), 0)
    ) AS share_b_pct,
    100.0 * min(
      iif(total_a_ns > 0, 1.0 * judged_a_ns / total_a_ns, 1.0),
      iif(total_b_ns > 0, 1.0 * judged_b_ns / total_b_ns, 1.0)
    ) AS compared_pct
  FROM side
),
relevant AS (
  SELECT
    *,
    calls_a > 0
      AND calls_b > 0
      AND coalesce(max(share_a_pct, share_b_pct), 100) >= 1 AS is_relevant
  FROM shared
),
bound AS (
  SELECT
    *,
    max(
      coalesce(
        student_bound(100 - (100 - :confidence) / max(sum(is_relevant) OVER (PARTITION BY in_section), 1), freedom),
        0
      ) * error_ns,
      -- Two runs of one program differ by so much, however similar the calls within each.
      iif(unit.is_one_run_each, 0.005 * coalesce(a_ns, 0), 0)
    ) AS noise_ns
  FROM relevant
  CROSS JOIN unit
),
verdict AS (
  SELECT
    bound.*,
    pair.match,
    pair.name_count,
    iif(pair.pair_id IS NOT NULL, pair_name.name_a, iif(bound.calls_a > 0, bound.key, NULL)) AS name_a,
    iif(pair.pair_id IS NOT NULL, pair_name.name_b, iif(bound.calls_b > 0, bound.key, NULL)) AS name_b,
    CAST(round(bound.change_ns) AS INTEGER) AS whole_change_ns,
    CAST(round(bound.calls_effect_ns) AS INTEGER) AS whole_calls_ns,
    CAST(round(bound.other_effect_ns) AS INTEGER) AS whole_other_ns,
    bound.is_in_graphs AND (bound.in_section IN ('kernels', 'classes', 'nccl') OR bound.key = 'kernels') AS is_in_graph,
    CASE
      WHEN bound.is_in_graphs AND (bound.in_section IN ('kernels', 'classes', 'nccl') OR bound.key = 'kernels')
        THEN 'cannot tell'
      WHEN bound.calls_b = 0 THEN 'only in A'
      WHEN bound.calls_a = 0 THEN 'only in B'
      WHEN bound.a_ns IS NULL OR bound.b_ns IS NULL OR bound.compared_pct < 50 THEN 'cannot tell'
      WHEN abs(bound.b_ns - bound.a_ns) > bound.noise_ns THEN iif(bound.b_ns > bound.a_ns, 'slower', 'faster')
      WHEN 2 * bound.single_ns > bound.judged_a_ns + bound.judged_b_ns THEN 'cannot tell'
      ELSE 'within noise'
    END AS verdict
  FROM bound
  LEFT JOIN pair
    ON pair.pair_id = bound.key
  LEFT JOIN pair_name
    ON pair_name.pair_id = bound.key
  WHERE bound.differs
)
SELECT
  in_section AS section,
  verdict,
  CASE
    WHEN is_in_graph THEN 'in graphs'
    WHEN verdict IN ('only in A', 'only in B') THEN NULL
    WHEN in_section IN ('total', 'classes', 'nccl') THEN iif(verdict = 'cannot tell', 'other shapes', NULL)
    WHEN 2 * single_ns > judged_a_ns + judged_b_ns THEN 'one call'
    WHEN match = 'place' THEN 'replaced'
    WHEN name_count > 2 THEN iif(is_by_total, 'a group of kernels', 'other shapes')
    WHEN verdict = 'cannot tell' THEN 'other shapes'
    WHEN is_by_total AND match IN ('class and range', 'range', 'class') THEN 'a group of kernels'
    WHEN is_by_total AND in_section = 'kernels' THEN 'launch shape changed'
    WHEN is_by_total AND in_section = 'memory' THEN 'size changed'
    WHEN is_by_total THEN 'path changed'
  END AS reason,
  name_a,
  name_b,
  iif(in_section IN ('total', 'classes', 'nccl'), 'sum', match) AS match,
  calls_a,
  calls_b,
  total_a_ns,
  total_b_ns,
  1.0 * total_a_ns / nullif(calls_a, 0) AS mean_a_ns,
  1.0 * total_b_ns / nullif(calls_b, 0) AS mean_b_ns,
  share_a_pct,
  share_b_pct,
  iif((SELECT is_per_iteration FROM unit), 'step', 'report') AS per,
  whole_change_ns AS change_ns,
  whole_calls_ns AS calls_effect_ns,
  whole_change_ns - whole_calls_ns - whole_other_ns AS cost_effect_ns,
  whole_other_ns AS other_effect_ns,
  100.0 * whole_change_ns / (SELECT gpus * a_ns FROM whole) AS step_pct,
  CAST(round(a_ns) AS INTEGER) AS cost_a_ns,
  CAST(round(b_ns) AS INTEGER) AS cost_b_ns,
  100.0 * (b_ns - a_ns) / nullif(a_ns, 0) AS cost_change_pct,
  100.0 * noise_ns / nullif(a_ns, 0) AS noise_pct,
  compared_pct,
  is_relevant,
  iif(in_section IN ('total', 'classes', 'nccl'), NULL, key) AS pair_id,
  row_number() OVER (
    ORDER BY
      instr('total kernels classes layers nccl memory api', in_section),
      verdict NOT IN ('slower', 'faster'),
      abs(whole_change_ns) DESC,
      key
  ) AS row_id
FROM verdict
ORDER BY row_id
