/*---
name: nvtx_layers
version: 1
title: Layers, forward and backward
summary: GPU time per layer name, with its part of PyTorch's backward pass.
why: To compare layers across iterations and nesting, and to see what each layer costs in both directions.
kind: sum
tags: [cuda, nvtx]
reads: [all_nvtx_span, nvtx_name, nvtx_op, nvtx_path, nvtx_projection, scope]
requires: [nvtx_path, nvtx_op]
params:
  - {name: layer, type: text, default: "*", doc: "GLOB pattern for layer_name."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by gpu_ns + backward_gpu_ns; 1 is the largest."}
  - {name: layer_name, type: text, label: "layer", priority: 0, doc: "Range name with each number replaced by * and PyTorch's suffixes removed; (unnamed) if empty; (autograd) for backward work that matches no range."}
  - {name: gpu_ns, type: duration, unit: ns, label: "forward GPU time", priority: 1, doc: "Sum of the durations of operations launched in these ranges, including nested ranges but not autograd ranges. Each operation counts once."}
  - {name: backward_gpu_ns, type: duration, unit: ns, label: "backward GPU time", priority: 1, doc: "Sum of the durations of operations launched in autograd ranges that belong to these ranges or to ranges nested in them."}
  - {name: self_gpu_ns, type: duration, unit: ns, label: "forward self GPU time", doc: "Part of gpu_ns that was launched directly in these ranges, not in a nested range."}
  - {name: self_backward_gpu_ns, type: duration, unit: ns, label: "backward self GPU time", doc: "Part of backward_gpu_ns whose autograd ranges belong to these ranges themselves."}
  - {name: self_share_pct, type: percent, unit: percent, label: "self share of GPU time", priority: 1, doc: "self_gpu_ns + self_backward_gpu_ns as a share of all GPU work, inside and outside ranges."}
  - {name: op_count, type: int, unit: count, label: "forward operations", doc: "Operations of gpu_ns."}
  - {name: launch_count, type: int, unit: count, label: "forward launches", priority: 3, doc: "API calls that launched the operations of op_count."}
  - {name: backward_op_count, type: int, unit: count, label: "backward operations", doc: "Operations of backward_gpu_ns."}
  - {name: range_count, type: int, unit: count, label: "forward ranges", priority: 1, doc: "Ranges of this name outside autograd ranges."}
  - {name: backward_count, type: int, unit: count, label: "autograd ranges", priority: 3, doc: "Autograd ranges of backward_gpu_ns; null in the row (autograd)."}
  - {name: cpu_ns, type: duration, unit: ns, label: "forward CPU time", priority: 1, doc: "Sum of the CPU durations of these ranges. A range nested in a range of the same name counts too."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - gpu_ns >= self_gpu_ns AND self_gpu_ns >= 0 AND op_count >= launch_count
  - backward_gpu_ns >= self_backward_gpu_ns AND self_backward_gpu_ns >= 0
when_empty: "no layer matches: range_names lists the folded names, and -p layer=GLOB takes one"
limits: >-
  Add up only the self columns; the other columns count work in every layer around it. Backward work is matched to
  layers by PyTorch's sequence numbers, which emit_nvtx writes into the name and a PyTorch trace stores next to it. An
  autograd range such as AddmmBackward0, seq = 5 belongs to the range with seq = 5 in the same process that started last
  before it and is not an autograd range itself. If its parent is autograd::engine::evaluate_function, that whole parent
  counts, because it also runs the sums over broadcast dimensions. Of nested autograd ranges, only the outermost matched
  one counts, so work that activation checkpointing repeats belongs to the checkpoint. The row (autograd) has nodes
  without a sequence number, such as AccumulateGrad, and nodes whose forward range is not in the capture. PyTorch counts
  sequence numbers per thread, so matches can be wrong if several threads of a process run forward at once. With
  --attribute process, an autograd range can also hold work that other threads launch meanwhile, and the sums can exceed
  the total work.
see_also: [nvtx_tree, nvtx_kernels, phases]
---*/
WITH RECURSIVE
named AS (
  SELECT
    name_id,
    layer_name,
    substr(range_text, 1, instr(range_text || ', ', ', ') - 1) AS op_name,
    CASE
      WHEN range_text GLOB '*, seq = [0-9]*'
      THEN CAST(substr(range_text, instr(range_text, ', seq = ') + 8) AS INTEGER)
    END AS seq,
    coalesce(domain_name = 'cpu_op', 0) AS is_imported
  FROM nvtx_name
  WHERE range_text GLOB '*, seq = [0-9]*'
    OR range_text GLOB '*autograd::*'
    OR domain_name = 'cpu_op'
),
name AS (
  SELECT
    *,
    op_name GLOB 'autograd::engine::evaluate_function*' AS is_evaluation,
    op_name GLOB 'autograd::engine::*'
      OR op_name GLOB 'torch::autograd::*'
      OR (seq IS NOT NULL OR is_imported)
      AND (op_name GLOB '*Backward' OR op_name GLOB '*Backward[0-9]' OR op_name GLOB '*Backward[0-9][0-9]')
      AS is_autograd
  FROM named
),
-- The sequence number is part of the name, or a value of its own in an imported trace.
with_number AS MATERIALIZED (
  SELECT
    range.range_id,
    range.parent_id,
    range.path_id,
    range.global_pid,
    range.global_tid,
    range.start_ns,
    range.end_ns,
    range.op_count,
    range.gpu_ns,
    name.is_autograd,
    CASE
      WHEN NOT name.is_imported THEN name.seq
      ELSE (SELECT nullif(max(int64_value, -1), -1) FROM all_nvtx_span AS span WHERE span.range_id = range.range_id)
    END AS seq
  FROM name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
),
-- Ranges with a sequence number. `place` counts the ranges that share one, by start.
numbered AS (
  SELECT
    range.range_id,
    range.parent_id,
    range.path_id,
    range.global_pid,
    range.global_tid,
    range.start_ns,
    range.end_ns,
    range.op_count,
    range.gpu_ns,
    range.seq,
    range.is_autograd,
    row_number() OVER (
      PARTITION BY range.global_pid, range.seq
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
    ) AS place
  FROM with_number AS range
  WHERE range.seq IN (SELECT seq FROM with_number WHERE is_autograd)
),
followed AS (
  SELECT
    *,
    max(iif(is_autograd, NULL, place)) OVER (PARTITION BY global_pid, seq ORDER BY place) AS forward_place
  FROM numbered
),
evaluation AS (
  SELECT range.range_id, range.start_ns, range.end_ns, range.op_count, range.gpu_ns
  FROM name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE name.is_evaluation
),
-- Autograd ranges that match a forward range, with the path of the forward range.
linked AS (
  SELECT
    forward.path_id,
    followed.global_tid,
    followed.range_id,
    coalesce(evaluation.start_ns, followed.start_ns) AS start_ns,
    coalesce(evaluation.end_ns, followed.end_ns) AS end_ns,
    coalesce(evaluation.op_count, followed.op_count) AS op_count,
    coalesce(evaluation.gpu_ns, followed.gpu_ns) AS gpu_ns
  FROM followed
  JOIN numbered AS forward
    ON forward.global_pid = followed.global_pid
    AND forward.seq = followed.seq
    AND forward.place = followed.forward_place
  LEFT JOIN evaluation
    ON evaluation.range_id = followed.parent_id
  WHERE followed.is_autograd
),
nested AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY global_tid
      ORDER BY start_ns, end_ns DESC, range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM linked
),
backward AS (
  SELECT path_id, count(*) AS range_count, sum(op_count) AS op_count, sum(gpu_ns) AS gpu_ns
  FROM nested
  WHERE reached_ns IS NULL
    OR reached_ns < end_ns
  GROUP BY path_id
),
autograd AS (
  SELECT DISTINCT layer_name
  FROM name
  WHERE is_autograd
),
-- Stored, the rows get an index. Otherwise SQLite scans all paths at every step.
path AS MATERIALIZED (
  SELECT path_id, parent_path_id, layer_name IN (SELECT layer_name FROM autograd) AS is_autograd
  FROM nvtx_path
),
-- Paths outside autograd ranges, from the top down.
forward (path_id) AS (
  SELECT path_id
  FROM path
  WHERE parent_path_id IS NULL
    AND NOT is_autograd
  UNION ALL
  SELECT path.path_id
  FROM forward
  JOIN path
    ON path.parent_path_id = forward.path_id
  WHERE NOT path.is_autograd
),
work AS (
  SELECT
    nvtx_path.*,
    min(nvtx_path.path_id) OVER (PARTITION BY nvtx_path.layer_name) AS layer_id,
    coalesce(backward.range_count, 0) AS backward_count,
    coalesce(backward.op_count, 0) AS backward_op_count,
    coalesce(backward.gpu_ns, 0) AS backward_gpu_ns
  FROM forward
  JOIN nvtx_path
    ON nvtx_path.path_id = forward.path_id
  LEFT JOIN backward
    ON backward.path_id = forward.path_id
),
above (path_id, above_id) AS (
  SELECT path_id, path_id
  FROM work
  UNION ALL
  SELECT above.path_id, nvtx_path.parent_path_id
  FROM above
  JOIN nvtx_path
    ON nvtx_path.path_id = above.above_id
  WHERE nvtx_path.parent_path_id IS NOT NULL
),
-- All layers around a path. A layer that occurs several times above it counts once.
inside AS (
  SELECT DISTINCT above.path_id, work.layer_id
  FROM above
  JOIN work
    ON work.path_id = above.above_id
),
inclusive AS (
  SELECT
    inside.layer_id,
    sum(work.self_gpu_ns) AS gpu_ns,
    sum(work.self_op_count) AS op_count,
    sum(work.self_launch_count) AS launch_count,
    sum(work.backward_count) AS backward_count,
    sum(work.backward_op_count) AS backward_op_count,
    sum(work.backward_gpu_ns) AS backward_gpu_ns
  FROM inside
  JOIN work
    ON work.path_id = inside.path_id
  GROUP BY inside.layer_id
),
own AS (
  SELECT
    layer_id,
    sum(range_count) AS range_count,
    sum(cpu_ns) AS cpu_ns,
    sum(self_gpu_ns) AS self_gpu_ns,
    sum(backward_gpu_ns) AS self_backward_gpu_ns
  FROM work
  GROUP BY layer_id
),
loose AS (
  SELECT
    max(0, sum(self_gpu_ns) - (SELECT coalesce(sum(gpu_ns), 0) FROM backward)) AS gpu_ns,
    max(0, sum(self_op_count) - (SELECT coalesce(sum(op_count), 0) FROM backward)) AS op_count
  FROM nvtx_path
  WHERE path_id NOT IN (SELECT path_id FROM forward)
),
line AS (
  SELECT
    inclusive.gpu_ns,
    inclusive.backward_gpu_ns,
    own.self_gpu_ns,
    own.self_backward_gpu_ns,
    inclusive.op_count,
    inclusive.launch_count,
    inclusive.backward_op_count,
    own.range_count,
    inclusive.backward_count,
    own.cpu_ns,
    nvtx_path.layer_name
  FROM inclusive
  JOIN own
    ON own.layer_id = inclusive.layer_id
  JOIN nvtx_path
    ON nvtx_path.path_id = inclusive.layer_id
  UNION ALL
  SELECT
    0 AS gpu_ns,
    gpu_ns AS backward_gpu_ns,
    0 AS self_gpu_ns,
    gpu_ns AS self_backward_gpu_ns,
    0 AS op_count,
    0 AS launch_count,
    op_count AS backward_op_count,
    0 AS range_count,
    NULL AS backward_count,
    0 AS cpu_ns,
    '(autograd)' AS layer_name
  FROM loose
  WHERE op_count > 0
)
SELECT
  row_number() OVER (ORDER BY gpu_ns + backward_gpu_ns DESC, self_gpu_ns DESC, cpu_ns DESC, layer_name) AS rank,
  layer_name,
  gpu_ns,
  backward_gpu_ns,
  self_gpu_ns,
  self_backward_gpu_ns,
  100.0 * (self_gpu_ns + self_backward_gpu_ns) / nullif((SELECT sum(dur_ns) FROM nvtx_op), 0) AS self_share_pct,
  op_count,
  launch_count,
  backward_op_count,
  range_count,
  backward_count,
  cpu_ns,
  (SELECT attribution FROM scope) AS attribution
FROM line
WHERE layer_name GLOB :layer
ORDER BY rank
LIMIT :limit
