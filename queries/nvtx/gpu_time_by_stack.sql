/*---
name: gpu_time_by_stack
version: 1
title: GPU time by stack
summary: GPU time of each stack of ranges, modules and Python functions that launched it.
why: To draw a flame graph of the GPU's time.
kind: sum
tags: [cuda, gpu, kernel, nvtx]
reads: [all_kernel, all_memcpy, all_python_frame, launch, launch_place, nvtx_name, nvtx_projection, string]
requires: [launch, python_frame | nvtx_range]
params:
  - {name: by, type: enum, values: [all, range, module, function, python], default: all, doc: "Frames of a stack: ranges are those of NVTX, annotations and operators; modules are those of PyTorch; functions are Python functions outside of PyTorch's files; all is these three; python is every Python call."}
  - {name: operations, type: bool, default: true, doc: "End each stack with the name of the kernel, copy or fill."}
  - {name: instances, type: bool, default: false, doc: "Keep the numbers of modules, such as Linear_5; else all modules of a class are one frame, Linear_*."}
  - {name: limit, type: int, default: 100, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 0, doc: "Sum of the durations of the operations with this stack."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of all rows, also of those beyond the limit."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 2, doc: "Part of gpu_ns that is kernels. All rows, also those beyond the limit, add up to the time of all kernels."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "GPU operations with this stack."}
  - {name: depth, type: int, unit: count, label: "frames", priority: 3, doc: "Number of frames."}
  - {name: stack, type: text, priority: 0, doc: "Frames from the outermost to the innermost, with ; between them; a ; in a name is a colon. (backward) stands after the frames of a forward operator; (no API row) or (outside) stands for the frames of work that has none."}
checks:
  - op_count >= 1 AND gpu_ns >= kernel_ns AND depth >= 1
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
when_empty: "no GPU operation was recorded"
limits: >-
  The frames are those around the start of the launching call on its thread, in the order of their starts. Work of a backward
  pass without a Python call around it has the frames of its forward operator first, and then the ranges of its own thread.
  Numbers in names of ranges are *, unless --fold is none. Python calls need a trace with with_stack=True. CUDA graphs traced as a whole
  are not included.
see_also: [module_time, python_line_time, nvtx_tree, cpu_stacks]
---*/
WITH
call AS MATERIALIZED (
  SELECT
    frame_id,
    start_ns,
    end_ns,
    global_tid,
    CASE
      WHEN file_name IS NOT NULL THEN file_name || '(' || line || '): ' || replace(function_name, ';', ':')
      WHEN module_name IS NULL OR :instances THEN replace(function_name, ';', ':')
      ELSE rtrim(replace(function_name, ';', ':'), '0123456789') || '*'
    END AS label
  FROM all_python_frame
  WHERE end_ns > start_ns
    AND CASE :by
      WHEN 'python' THEN 1
      WHEN 'all' THEN module_name IS NOT NULL OR NOT is_torch
      WHEN 'module' THEN module_name IS NOT NULL
      WHEN 'function' THEN NOT is_torch
    END
),
call_label AS MATERIALIZED (
  SELECT label, 2 * min(frame_id) AS label_id
  FROM call
  GROUP BY label
),
-- IDs of ranges and of their names are odd.
range_label AS MATERIALIZED (
  SELECT
    name_id,
    replace(layer_name, ';', ':') AS label,
    2 * min(name_id) OVER (PARTITION BY layer_name) + 1 AS label_id
  FROM nvtx_name
  WHERE :by IN ('all', 'range')
),
frame AS MATERIALIZED (
  SELECT 2 * frame_id AS id, start_ns, end_ns, global_tid, call_label.label_id
  FROM call
  JOIN call_label
    ON call_label.label = call.label
  UNION ALL
  SELECT 2 * range_id + 1, start_ns, end_ns, global_tid, range_label.label_id
  FROM nvtx_projection
  CROSS JOIN range_label
  WHERE range_label.name_id = nvtx_projection.name_id
),
around AS MATERIALIZED (
  SELECT asked.call_id, asked.is_forward, frame.id, frame.start_ns, frame.end_ns, frame.label_id
  FROM split_spans(
    (SELECT time_spans(global_tid, place_id, at_ns, at_ns + 1) FROM launch_place),
    (SELECT time_spans(global_tid, id, start_ns, end_ns) FROM frame)
  ) AS span
  CROSS JOIN frame
  CROSS JOIN launch_place AS asked
  WHERE frame.id = span.by_id
    AND asked.place_id = span.span_id
),
-- Calls with a Python call around them need no forward operator.
named_itself AS MATERIALIZED (
  SELECT DISTINCT call_id
  FROM around
  WHERE NOT is_forward
    AND id % 2 = 0
),
-- Paths are compared by IDs: names are looked up for one call of each.
path AS MATERIALIZED (
  SELECT call_id, group_concat(iif(is_forward, '<', '') || label_id, ';') AS path
  FROM (
    SELECT call_id, is_forward, label_id
    FROM around
    WHERE NOT (is_forward AND call_id IN (SELECT call_id FROM named_itself))
    ORDER BY call_id, is_forward DESC, start_ns, end_ns DESC, id
  )
  GROUP BY call_id
),
op AS (
  SELECT
    launch.op_kind,
    launch.dur_ns,
    launch.call_id,
    CASE launch.op_kind
      WHEN 'kernel' THEN (SELECT name_id FROM all_kernel WHERE kernel_id = launch.op_id)
      WHEN 'memcpy' THEN (SELECT direction FROM all_memcpy WHERE memcpy_id = launch.op_id)
    END AS op_name
  FROM launch
),
summed AS (
  SELECT
    coalesce(path.path, iif(op.call_id IS NULL, '(no API row)', '(outside)')) AS path,
    iif(:operations, op.op_kind, NULL) AS op_kind,
    iif(:operations, op.op_name, NULL) AS op_name,
    min(path.call_id) AS example_id,
    sum(op.dur_ns) AS gpu_ns,
    sum(iif(op.op_kind = 'kernel', op.dur_ns, 0)) AS kernel_ns,
    count(*) AS op_count
  FROM op
  LEFT JOIN path
    ON path.call_id = op.call_id
  GROUP BY 1, 2, 3
),
largest AS MATERIALIZED (
  SELECT *, 100.0 * gpu_ns / nullif(sum(gpu_ns) OVER (), 0) AS share_pct
  FROM summed
  ORDER BY gpu_ns DESC, op_count DESC, path, op_kind, op_name
  LIMIT :limit
),
label AS MATERIALIZED (
  SELECT label_id, label
  FROM call_label
  UNION
  SELECT label_id, label
  FROM range_label
),
named AS MATERIALIZED (
  SELECT
    call_id,
    group_concat(label, ';') FILTER (WHERE is_forward) AS forward_stack,
    group_concat(label, ';') FILTER (WHERE NOT is_forward) AS own_stack
  FROM (
    SELECT around.call_id, around.is_forward, label.label
    FROM around
    JOIN label
      ON label.label_id = around.label_id
    WHERE around.call_id IN (SELECT example_id FROM largest)
      AND NOT (around.is_forward AND around.call_id IN (SELECT call_id FROM named_itself))
    ORDER BY around.call_id, around.start_ns, around.end_ns DESC, around.id
  )
  GROUP BY call_id
),
listed AS (
  SELECT
    largest.*,
    coalesce(
      named.forward_stack || ';(backward)' || coalesce(';' || named.own_stack, ''),
      named.own_stack,
      largest.path
    )
    || CASE largest.op_kind
      WHEN 'kernel' THEN ';' || replace((SELECT text FROM string WHERE string_id = largest.op_name), ';', ':')
      WHEN 'memcpy' THEN ';[CUDA memcpy ' || largest.op_name || ']'
      WHEN 'memset' THEN ';[CUDA memset]'
      ELSE ''
    END AS stack
  FROM largest
  LEFT JOIN named
    ON named.call_id = largest.example_id
)
SELECT
  gpu_ns,
  share_pct,
  kernel_ns,
  op_count,
  length(stack) - length(replace(stack, ';', '')) + 1 AS depth,
  stack
FROM listed
ORDER BY gpu_ns DESC, op_count DESC, path, op_kind, op_name
