/*---
name: work_coverage
version: 1
title: GPU time with known work
summary: How much GPU time has known FLOPs and bytes, and why the rest has not.
why: To know how far the efficiency queries see, and what to record for the rest.
kind: sum
tags: [gpu, nvtx]
reads: [op_work, report_source]
requires: [gpu_op, op_work]
columns:
  - {name: state, type: text, priority: 0, doc: "known; no formula for the operator; no settings of the operator, such as stride or mask; in a CUDA graph; no shapes; or no range."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the GPU operations."}
  - {name: time_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the GPU time of all operations."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 2, doc: "GPU operations."}
  - {name: largest, type: text, label: "most time in", priority: 1, doc: "Operator or range with the most of this GPU time; null outside any range."}
  - {name: remedy, type: text, label: "what to do", priority: 2, doc: "How to make the work known; null if it is."}
checks:
  - gpu_ns >= 0 AND op_count >= 1
  - (state = 'known') = (remedy IS NULL)
when_empty: the report has no GPU operations
limits: >-
  Work is known if the shapes of an operator are recorded and nsq has a formula for it. An operation of several operators
  that torch.compile fused is counted as that of a range without shapes.
see_also: [op_efficiency, nvtx_coverage]
---*/
WITH
state (place, state, remedy) AS (
  VALUES
  (1, 'known', NULL),
  (2, 'no formula for the operator', 'name the operator in a file views/operator_formula.sql of your own'),
  (
    3,
    'no settings of the operator',
    'record a PyTorch trace with record_shapes=True: it holds stride, padding, mask and batch, '
    || 'range names do not; a rule in names/work.yml must give all sizes'
  ),
  (
    4,
    'in a CUDA graph',
    'record without graphs: a graph launch does not record the operators of its nodes'
  ),
  (
    5,
    'no shapes',
    'record them: torch.profiler.profile(record_shapes=True), or emit_nvtx(record_shapes=True) under nsys; '
    || 'or give them by rules in names/work.yml, see `nsq show range_work`'
  ),
  (6, 'no range', 'record ranges: emit_nvtx() under nsys; nvtx_coverage says why launches are in none')
),
-- Other recorders than nsys and PyTorch record no shapes.
remedied AS (
  SELECT
    state.place,
    state.state,
    CASE
      WHEN report_source.recorder IN ('nsys', 'PyTorch') THEN state.remedy
      WHEN state.place IN (3, 5) THEN 'give shapes by rules in names/work.yml, see `nsq show range_work`'
      WHEN state.place = 6 THEN 'nvtx_coverage says why launches are in no range'
      ELSE state.remedy
    END AS remedy
  FROM state
  CROSS JOIN report_source
),
placed AS (
  SELECT
    op_name,
    gpu_ns - graph_ns AS gpu_ns,
    op_count - graph_op_count AS op_count,
    CASE
      WHEN flop_count IS NOT NULL THEN 1
      WHEN has_inputs AND kind IS NULL THEN 2
      WHEN has_inputs THEN 3
      WHEN range_id IS NOT NULL THEN 5
      ELSE 6
    END AS place
  FROM op_work
  WHERE op_count > graph_op_count
  UNION ALL
  SELECT op_name, graph_ns, graph_op_count, iif(flop_count IS NULL, 4, 1)
  FROM op_work
  WHERE graph_op_count > 0
),
named AS (
  SELECT
    place,
    op_name,
    sum(gpu_ns) AS gpu_ns,
    sum(op_count) AS op_count,
    row_number() OVER (PARTITION BY place ORDER BY sum(gpu_ns) DESC, op_name) AS nth
  FROM placed
  GROUP BY place, op_name
)
SELECT
  remedied.state,
  sum(named.gpu_ns) AS gpu_ns,
  100.0 * sum(named.gpu_ns) / nullif(sum(sum(named.gpu_ns)) OVER (), 0) AS time_pct,
  sum(named.op_count) AS op_count,
  max(iif(named.nth = 1, named.op_name, NULL)) AS largest,
  remedied.remedy
FROM named
JOIN remedied
  ON remedied.place = named.place
GROUP BY remedied.place, remedied.state, remedied.remedy
ORDER BY remedied.place, remedied.state, remedied.remedy
