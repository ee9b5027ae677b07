/*---
name: phases
version: 1
title: GPU time by phase
summary: GPU work of forward, backward, optimizer, loss and data, and the rest.
why: To see at once how a training step divides, and how much of it no annotation explains.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_path, scope]
requires: [nvtx_path, nvtx_op]
columns:
  - {name: phase, type: text, doc: "forward, backward, optimizer, loss, data, or other for ranges of no phase; null for work in no range."}
  - {name: unattributed, type: text, doc: "Why the work is in no range: no API row, no open range, other thread, graph-level trace; null with a phase."}
  - {name: share_pct, type: percent, unit: percent, doc: "Share of gpu_ns in the sum of all rows; null if that is 0."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths; operations that overlap count in full."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations: kernels, copies, fills and whole CUDA graphs."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them; 0 if none was recorded."}
  - {name: range_count, type: int, unit: count, doc: "Outermost ranges of the phase; 0 if no name in the report says so, null without a phase."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of their lengths on the CPU; null without a phase."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
  - {name: top_ranges, type: text, doc: "Up to five folded names of those ranges, the most GPU time first; a note if there are none, or what to try; else null."}
checks:
  - (phase IS NULL) = (unattributed IS NOT NULL)
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
  - op_count >= launch_count
limits: >-
  A range's phase follows from its name by the rules of queries/names/phases.yml; nsq sql shows in nvtx_name which rule
  took which name. Work belongs to the innermost range of a phase around its launch; other is what ranges hold of which
  none has a phase. Names that fold to one have one phase. Phases run one after another on the CPU, but may overlap on
  the GPU. PyTorch launches the backward pass from a thread of its own: without emit_nvtx it is other thread here, and
  --attribute process moves it to the range that was open around it.
see_also: [nvtx_coverage, nvtx_layers, iterations, nvtx_tree]
---*/
WITH RECURSIVE
layer AS (
  SELECT layer_name, min(phase) AS phase
  FROM nvtx_name
  WHERE phase IS NOT NULL
  GROUP BY layer_name
),
-- The usual phases are listed even where there is no range of theirs; rules of the user's may know others.
phase (phase) AS (
  VALUES ('forward'), ('backward'), ('optimizer'), ('loss'), ('data'), ('other')
  UNION
  SELECT phase
  FROM layer
),
-- LIMIT has SQLite keep these rows, and find children by an index, rather than scan all paths at every step.
own AS (
  SELECT nvtx_path.path_id, nvtx_path.parent_path_id, layer.phase
  FROM nvtx_path
  LEFT JOIN layer
    ON layer.layer_name = nvtx_path.layer_name
  LIMIT -1
),
-- From the top down: a path without a phase has its parent's.
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
    CASE unattributed WHEN 'other thread' THEN '(see --attribute process)' END AS top_ranges
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
