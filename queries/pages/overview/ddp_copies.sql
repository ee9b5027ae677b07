/*---
name: ddp_copies
version: 2
title: What DDP copies in each step
summary: Host time in which DDP unpacks broadcast buffers in a step, and its copies.
why: Two options of DDP avoid this work, and no kernel shows it.
kind: info
internal: true
tags: [communication, nvtx]
reads: [all_nvtx_name, all_nvtx_range, memcpy, step_window]
requires: [gpu_op | graph_trace, nvtx_range]
rows_if: "EXISTS (SELECT 1 FROM all_nvtx_name WHERE range_name GLOB '*aten::unflatten_dense_tensors*')"
columns:
  - {name: broadcast_count, type: real, unit: count, label: "broadcasts", priority: 1, doc: "Calls of aten::unflatten_dense_tensors in a step of a process, one for each broadcast of buffers."}
  - {name: unpack_ns, type: duration, unit: ns, label: "unpacking", priority: 0, doc: "Host time in them in a step."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps after the warm-up, of the process whose steps take longest."}
  - {name: copy_count, type: real, unit: count, label: "copies", priority: 0, doc: "Copies on the GPU of the process in a step."}
  - {name: gradient_count, type: real, unit: count, label: "gradients", priority: 1, doc: "Gradients that are copied out of buckets in a step."}
checks:
  - unpack_ns > 0
limits: Found by names of operators, which must be recorded. Other programs that flatten tensors look the same.
see_also: [device_copies]
---*/
WITH
win AS MATERIALIZED (
  SELECT
    pid,
    device_id,
    count(*) AS step_count,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    min(cpu_start_ns) AS cpu_start_ns,
    max(cpu_end_ns) AS cpu_end_ns
  FROM step_window
  WHERE part IN ('median', 'steady')
    AND dur_ns > 0
  GROUP BY gpu_id, pid, tid
  HAVING count(*) > 1
  ORDER BY (max(end_ns) - min(start_ns)) / count(*) DESC, gpu_id, pid, tid
  LIMIT 1
),
-- The host is ahead of the GPU: the broadcasts of the first step come before its first operation.
named AS (
  SELECT range.range_name GLOB '*aten::unflatten_dense_tensors*' AS unpacks, range.dur_ns
  -- Names are fewer than ranges, which are not read without the first of these.
  FROM (SELECT 1 FROM all_nvtx_name WHERE range_name GLOB '*aten::unflatten_dense_tensors*' LIMIT 1)
  CROSS JOIN win
  CROSS JOIN all_nvtx_range AS range
  WHERE (
      range.range_name GLOB '*aten::unflatten_dense_tensors*'
      OR range.range_name GLOB '*reducer::copy_bucket_to_grad*'
    )
    AND range.pid = win.pid
    AND range.start_ns >= win.cpu_start_ns
    AND range.start_ns < win.cpu_end_ns
),
copied AS (
  SELECT count(*) AS copy_count
  FROM win
  CROSS JOIN memcpy
  WHERE memcpy.copy_kind = 8
    AND memcpy.pid = win.pid
    AND memcpy.device_id = win.device_id
    AND memcpy.start_ns >= win.start_ns
    AND memcpy.start_ns < win.end_ns
)
SELECT
  1.0 * sum(unpacks) / win.step_count AS broadcast_count,
  sum(iif(unpacks, dur_ns, 0)) / win.step_count AS unpack_ns,
  win.step_count,
  1.0 * copied.copy_count / win.step_count AS copy_count,
  1.0 * sum(NOT unpacks) / win.step_count AS gradient_count
FROM named
CROSS JOIN win
CROSS JOIN copied
HAVING sum(unpacks) >= win.step_count
ORDER BY unpack_ns
