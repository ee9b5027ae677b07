/*---
name: phases
version: 2
title: GPU time by phase
summary: GPU time of forward, backward, optimizer, loss, data and the rest.
why: To see how a training step divides into phases, and how much time is in no phase.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_path, scope]
requires: [nvtx_path, nvtx_op]
columns:
  - {name: phase, type: text, priority: 0, doc: "forward, backward, optimizer, loss, data, or other for ranges without a phase; null for work in no range."}
  - {name: unattributed, type: text, label: "why in no range", priority: 3, doc: "Why the work is in no range: no API row, no open range, other thread or graph-level trace; null if it is in one."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the sum of all rows; null if the sum is 0."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the operations; overlapping operations count in full."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations: kernels, copies, fills and CUDA graphs traced as a whole."}
  - {name: launch_count, type: int, unit: count, label: "launches", doc: "API calls that launched these operations; 0 if none was recorded."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Outermost ranges of the phase; 0 if no range has this phase; null for work in no range."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Sum of the CPU durations of these ranges; null for work in no range."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
  - {name: top_ranges, type: text, doc: "Up to five folded names of these ranges, largest GPU time first; or, in parentheses, that no range fits or why the work is in no range."}
checks:
  - (phase IS NULL) = (unattributed IS NOT NULL)
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
  - op_count >= launch_count
limits: >-
  The rules in queries/names/phases.yml find the phase of a range from its name; phase_rule of the relation nvtx_name
  shows which rule matched. Work belongs to the innermost range with a phase around its launch. other is work in ranges
  without a phase, and with no phase around them. Names that fold to the same name have the same phase. F, B and W, alone
  or with a number, are passes of a pipeline if both F and B occur; the column phase of nvtx_name does not have these.
  Phases follow one another on the CPU, but can overlap on the GPU. PyTorch launches the backward pass from its own
  thread: without emit_nvtx this work appears as other thread, and --attribute process counts it in the range that is
  open around it.
see_also: [nvtx_coverage, nvtx_layers, iterations, nvtx_tree]
---*/
WITH RECURSIVE
-- Schedules of pipelines name a pass by its letter, alone or with a number. A letter can have other meanings, so both
-- forward and backward passes must be there.
letter AS MATERIALIZED (
  SELECT layer_name, substr(range_text, 1, 1) AS letter
  FROM nvtx_name
  WHERE phase IS NULL
    AND range_text GLOB '[FBW]*'
    AND NOT substr(range_text, 2) GLOB '*[^0-9]*'
),
layer AS (
  SELECT layer_name, min(phase) AS phase
  FROM (
    SELECT layer_name, phase
    FROM nvtx_name
    WHERE phase IS NOT NULL
    UNION ALL
    SELECT layer_name, CASE letter WHEN 'F' THEN 'forward' ELSE 'backward' END
    FROM letter
    WHERE (SELECT count(DISTINCT letter) FROM letter WHERE letter IN ('F', 'B')) = 2
  )
  GROUP BY layer_name
),
-- List the usual phases even if they have no range. Rules of the user can add other phases.
phase (phase) AS (
  VALUES ('forward'), ('backward'), ('optimizer'), ('loss'), ('data'), ('other')
  UNION
  SELECT phase
  FROM layer
),
-- Stored, the rows get an index. Otherwise SQLite scans all paths at every step.
own AS MATERIALIZED (
  SELECT nvtx_path.path_id, nvtx_path.parent_path_id, layer.phase
  FROM nvtx_path
  LEFT JOIN layer
    ON layer.layer_name = nvtx_path.layer_name
),
-- From the top down: a path without a phase inherits the phase of its parent.
phased (path_id, phase, above) AS (
  SELECT path_id, coalesce(phase, 'other'), ' '
  FROM own
  WHERE parent_path_id IS NULL
  UNION ALL
  SELECT own.path_id, coalesce(own.phase, phased.phase), phased.above || phased.phase || ' '
  FROM phased
  JOIN own
    ON own.parent_path_id = phased.path_id
),
by_phase AS (
  SELECT
    phased.phase,
    sum(nvtx_path.self_gpu_ns) AS gpu_ns,
    sum(nvtx_path.self_op_count) AS op_count,
    sum(nvtx_path.self_launch_count) AS launch_count
  FROM phased
  JOIN nvtx_path
    ON nvtx_path.path_id = phased.path_id
  GROUP BY phased.phase
),
outermost AS (
  SELECT
    phased.phase,
    nvtx_path.layer_name,
    sum(nvtx_path.range_count) AS range_count,
    sum(nvtx_path.cpu_ns) AS cpu_ns,
    sum(nvtx_path.gpu_ns) AS gpu_ns
  FROM phased
  JOIN nvtx_path
    ON nvtx_path.path_id = phased.path_id
  WHERE instr(phased.above, ' ' || phased.phase || ' ') = 0
  GROUP BY phased.phase, nvtx_path.layer_name
),
ranked AS (
  SELECT
    phase,
    layer_name,
    sum(range_count) OVER (PARTITION BY phase) AS range_count,
    sum(cpu_ns) OVER (PARTITION BY phase) AS cpu_ns,
    count(*) OVER (PARTITION BY phase) AS name_count,
    row_number() OVER (PARTITION BY phase ORDER BY gpu_ns DESC, cpu_ns DESC, layer_name) AS place
  FROM outermost
),
listed AS (
  SELECT
    phase,
    range_count,
    cpu_ns,
    place = min(name_count, 5) AS is_whole,
    group_concat(layer_name, ' | ') OVER (PARTITION BY phase ORDER BY place) AS top_ranges
  FROM ranked
  WHERE place <= 5
),
line AS (
  SELECT
    phase.phase,
    NULL AS unattributed,
    coalesce(by_phase.gpu_ns, 0) AS gpu_ns,
    coalesce(by_phase.op_count, 0) AS op_count,
    coalesce(by_phase.launch_count, 0) AS launch_count,
    coalesce(listed.range_count, 0) AS range_count,
    coalesce(listed.cpu_ns, 0) AS cpu_ns,
    listed.top_ranges
  FROM phase
  LEFT JOIN by_phase
    ON by_phase.phase = phase.phase
  LEFT JOIN listed
    ON listed.phase = phase.phase
    AND listed.is_whole
  UNION ALL
  SELECT
    NULL AS phase,
    unattributed,
    sum(dur_ns) AS gpu_ns,
    count(*) AS op_count,
    count(DISTINCT call_id) AS launch_count,
    NULL AS range_count,
    NULL AS cpu_ns,
    '(' || unattributed || iif(unattributed = 'other thread', ', see --attribute process)', ')') AS top_ranges
  FROM nvtx_op
  WHERE unattributed IS NOT NULL
  GROUP BY unattributed
)
SELECT
  phase,
  unattributed,
  100.0 * gpu_ns / nullif(sum(gpu_ns) OVER (), 0) AS share_pct,
  gpu_ns,
  op_count,
  launch_count,
  range_count,
  cpu_ns,
  (SELECT attribution FROM scope) AS attribution,
  CASE WHEN range_count = 0 THEN '(no range is named so)' ELSE top_ranges END AS top_ranges
FROM line
ORDER BY phase IS NULL, phase = 'other', gpu_ns DESC, phase, unattributed
