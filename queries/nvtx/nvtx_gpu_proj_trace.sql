/*---
name: nvtx_gpu_proj_trace
version: 1
title: NVTX GPU projection trace
summary: One row per NVTX range that launched GPU work, with its span on the GPU.
why: To see when and for how long the GPU worked for a range. It does so later than the range itself.
kind: trace
tags: [cuda, nvtx]
reads: [nvtx_op, nvtx_projection]
columns:
  - {name: start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 1, doc: "Start of the first operation on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "Time from start_ns to the end of the last operation, including idle time between operations."}
  - {name: range_start_ns, type: timestamp, unit: ns, label: "CPU start", doc: "Start of the range on the CPU; null outside any range."}
  - {name: range_dur_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the range on the CPU; null outside any range."}
  - {name: range_kind, type: text, label: "kind", priority: 3, doc: "Kind of range: PushPop or StartEnd; null outside any range."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations launched inside the range, including nested ranges."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: graph_count, type: int, unit: count, label: "CUDA graphs", priority: 3, doc: "Operations of op_count that are CUDA graphs traced as a whole. Their kernels are not recorded."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the operations; exceeds dur_ns if many overlap."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges around this one; null outside any range."}
  - {name: child_count, type: int, unit: count, label: "children", priority: 3, doc: "Direct children of the range that launched GPU work."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table; null for work that a thread launched outside any range."}
  - {name: parent_id, type: id, priority: 3, doc: "range_id of the shortest range of the same thread that contains this one; null at the top."}
  - {name: range_stack, type: text, priority: 3, doc: "range_ids from the top down to this range, each with the prefix ':'; null outside any range."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty or outside any range."}
checks:
  - op_count >= launch_count AND launch_count >= 1 AND graph_count BETWEEN 0 AND op_count
  - dur_ns >= 0 AND gpu_ns >= 0
  - (range_id IS NULL) = (range_stack IS NULL)
when_empty: "no GPU operation has a recorded launch: nvtx_coverage says why"
limits: >-
  A range holds what its own thread launches inside it. Work that another thread launches meanwhile, such as PyTorch's
  backward pass, belongs to that thread; with --attribute process it belongs to the range. Operations outside any range
  have one row per thread, before all other rows; NVIDIA merges all threads into one row, with the IDs of one thread.
  Operations whose launching call was not recorded are not included; nvtx_coverage counts them. CUDA graphs traced as a
  whole count as operations; NVIDIA leaves them out. If two ranges have the same start and end, the later row is inside
  the other; NVIDIA makes each the parent of the other and prints both without a level.
see_also: [nvtx_gpu_proj_sum, nvtx_pushpop_trace, nvtx_tree, nvtx_coverage]
nsys:
  title: NVTX GPU Projection Trace
  aliases: [nvtxgpuproj]
  lacks:
    - {without: nvtx_range, says: "NV Tools Extension (NVTX) data"}
    - {says: "CUDA API data"}
  columns:
    - {name: Name, sql: range_name}
    - {name: Projected Start, unit: ns, sql: start_ns}
    - {name: Projected Duration, unit: ns, sql: dur_ns}
    - {name: Orig Start, unit: ns, sql: range_start_ns}
    - {name: Orig Duration, unit: ns, sql: range_dur_ns}
    - {name: Style, sql: range_kind}
    - {name: PID, sql: pid}
    - {name: TID, sql: tid}
    - {name: NumGPUOps, sql: launch_count}
    - {name: Lvl, sql: depth}
    - {name: NumChild, sql: child_count}
    - {name: RangeId, sql: range_id}
    - {name: ParentId, sql: parent_id}
    - {name: RangeStack, sql: range_stack}
---*/
WITH
outside AS (
  SELECT
    global_tid,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    min(pid) AS pid,
    min(tid) AS tid,
    count(*) AS op_count,
    count(DISTINCT call_id) AS launch_count,
    sum(op_kind = 'graph') AS graph_count,
    sum(dur_ns) AS gpu_ns
  FROM nvtx_op
  WHERE range_id IS NULL
    AND call_id IS NOT NULL
  GROUP BY global_tid
),
projected AS (
  SELECT
    proj_start_ns AS start_ns,
    proj_end_ns - proj_start_ns AS dur_ns,
    start_ns AS range_start_ns,
    dur_ns AS range_dur_ns,
    range_kind,
    pid,
    tid,
    op_count,
    launch_count,
    graph_count,
    gpu_ns,
    depth,
    child_count,
    range_id,
    parent_id,
    range_stack,
    range_name,
    global_tid
  FROM nvtx_projection
  WHERE op_count > 0
  UNION ALL
  SELECT
    start_ns,
    end_ns - start_ns AS dur_ns,
    NULL AS range_start_ns,
    NULL AS range_dur_ns,
    NULL AS range_kind,
    pid,
    tid,
    op_count,
    launch_count,
    graph_count,
    gpu_ns,
    NULL AS depth,
    0 AS child_count,
    NULL AS range_id,
    NULL AS parent_id,
    NULL AS range_stack,
    NULL AS range_name,
    global_tid
  FROM outside
)
SELECT
  start_ns,
  dur_ns,
  range_start_ns,
  range_dur_ns,
  range_kind,
  pid,
  tid,
  op_count,
  launch_count,
  graph_count,
  gpu_ns,
  depth,
  child_count,
  range_id,
  parent_id,
  range_stack,
  range_name
FROM projected
ORDER BY range_id IS NOT NULL, start_ns, dur_ns DESC, range_id, global_tid
