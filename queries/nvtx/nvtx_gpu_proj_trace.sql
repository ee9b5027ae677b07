/*---
name: nvtx_gpu_proj_trace
version: 1
title: NVTX GPU projection trace
summary: Every NVTX range that launched GPU work, placed where the GPU did it.
why: To see when and for how long the GPU worked for a range, which is later than the range itself.
kind: trace
tags: [cuda, nvtx]
reads: [nvtx_op, nvtx_projection]
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "First of its operations began on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "From start_ns until the last of its operations ended; pauses between them are in it."}
  - {name: range_start_ns, type: timestamp, unit: ns, doc: "Range began on the CPU; null outside any range."}
  - {name: range_dur_ns, type: duration, unit: ns, doc: "How long the range lasted on the CPU; null outside any range."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd; null outside any range."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: op_count, type: int, unit: count, doc: "Operations launched inside it, those of ranges within included."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs."}
  - {name: graph_count, type: int, unit: count, doc: "Those of op_count that are whole CUDA graphs, their kernels hidden."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths; may exceed dur_ns where they overlap."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above it; null outside any range."}
  - {name: child_count, type: int, unit: count, doc: "Ranges whose parent it is and that launched GPU work."}
  - {name: range_id, type: id, doc: "Row of the raw table; null for what a thread launched outside any range."}
  - {name: parent_id, type: id, doc: "Shortest range of the same thread that contains it, as a range_id; null at the top."}
  - {name: range_stack, type: text, doc: "The range_ids from the top down to this one, each behind a colon; null outside any range."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty or outside any range."}
checks:
  - op_count >= launch_count AND launch_count >= 1 AND graph_count BETWEEN 0 AND op_count
  - dur_ns >= 0 AND gpu_ns >= 0
  - (range_id IS NULL) = (range_stack IS NULL)
limits: >-
  A range owns what its own thread launched inside it; what another thread launches meanwhile, as PyTorch does in the
  backward pass, is that thread's (--attribute process: the range's). Operations outside any range are one row a thread,
  at the head of the rows; NVIDIA merges all threads into one row with the ids of any of them. Operations whose launching
  call was not recorded are in no row; nvtx_coverage counts them. Where a report has whole CUDA graphs they count as
  operations, which NVIDIA leaves out. Of ranges with the same start and end the later row is inside; NVIDIA makes each
  the parent of the other and prints them without a level.
see_also: [nvtx_gpu_proj_sum, nvtx_pushpop_trace, nvtx_tree, nvtx_coverage]
nsys:
  title: NVTX GPU Projection Trace
  aliases: [nvtxgpuproj]
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
