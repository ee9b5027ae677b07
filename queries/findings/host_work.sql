/*---
name: host_work
version: 1
title: The GPU waits for other work of the host
summary: Idle time of a GPU while the thread that feeds it runs outside CUDA.
why: To see which part of the program, such as Python or data loading, the GPU waits for.
kind: finding
tags: [cuda, gpu, nvtx]
reads: [compute_gap_part, nvtx_name, nvtx_projection]
requires: [compute_gap_part]
finding:
  claim: "Host-bound: the GPU idles while the launching thread runs non-CUDA code."
  ceiling: Time outside the CUDA API in gaps of half a millisecond or more, before the next launch. Calls of CUDA in these gaps do not count.
  remedy: Move this work to other threads or processes, do it ahead while the GPU runs, or do it on the GPU. For data, use DataLoader(num_workers=..., pin_memory=True, prefetch_factor=...); for Python, torch.compile.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  confidence: medium
  frees: idle
params:
  - {name: least_gap, type: duration, default: 500us, min: 0, doc: "Shortest gap to count; shorter gaps belong to launch_bound."}
  - {name: least, type: duration, default: 10us, min: 0, doc: "Shortest time between two CUDA calls to count."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the interval, in which the GPU was idle and the thread in one range."}
  - {name: subject, type: text, label: "NVTX range", priority: 0, doc: "Innermost push/pop range of the thread, each number replaced by *; (no NVTX range) if none was open."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap", doc: "Length of the whole gap."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  The thread may itself wait, for another thread, a file, the network or the processor: time outside CUDA is not only
  computation. Initialization and the time between two phases of a program count too; choose a window with --time or
  --window to leave them out. Start/end ranges of NVTX are not used.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [gpu_idle_causes, data_loading, launch_bound]
---*/
WITH
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, gap_ns, tid, global_tid
  FROM compute_gap_part
  WHERE part = 'outside CUDA API'
    AND gap_ns >= :least_gap
    AND end_ns - start_ns >= :least
),
thread AS MATERIALIZED (
  SELECT DISTINCT global_tid, gpu_id
  FROM idle
),
range AS MATERIALIZED (
  SELECT range_id, parent_id, depth, start_ns, end_ns, global_tid, name_id
  FROM nvtx_projection
  WHERE range_kind = 'PushPop'
    AND end_ns > start_ns
    AND global_tid IN (SELECT global_tid FROM thread)
    AND overlap_ns((SELECT time_set(start_ns, end_ns) FROM idle), start_ns, end_ns) > 0
),
-- At the end of a range, the thread is in its parent again.
event AS (
  SELECT
    global_tid,
    gpu_id,
    start_ns AS at_ns,
    2 AS place,
    0 AS nesting,
    idle_id AS opens,
    0 AS is_range,
    NULL AS name_id
  FROM idle
  UNION ALL
  SELECT global_tid, gpu_id, end_ns, 2, 0, -idle_id, 0, NULL
  FROM idle
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, range.start_ns, 1, range.depth, 0, 1, range.name_id
  FROM thread
  JOIN range
    ON range.global_tid = thread.global_tid
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, range.end_ns, 0, -range.depth, 0, 1, parent.name_id
  FROM thread
  JOIN range
    ON range.global_tid = thread.global_tid
  LEFT JOIN range AS parent
    ON parent.range_id = range.parent_id
),
swept AS (
  SELECT
    global_tid,
    gpu_id,
    at_ns,
    place,
    nesting,
    is_range,
    lead(at_ns) OVER later AS next_ns,
    lead(is_range) OVER later AS next_is_range,
    sum(opens) OVER so_far AS idle_id,
    sum(is_range) OVER so_far AS range_events,
    name_id
  FROM event
  WINDOW
    later AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns, place, nesting, opens),
    so_far AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns, place, nesting, opens ROWS UNBOUNDED PRECEDING)
),
-- The first row of each number of range events is such an event. Most have no idle time after them.
segment AS (
  SELECT
    idle_id,
    at_ns AS start_ns,
    next_ns - at_ns AS dur_ns,
    first_value(name_id) OVER (
      PARTITION BY global_tid, gpu_id, range_events
      ORDER BY at_ns, place, nesting
      ROWS UNBOUNDED PRECEDING
    ) AS name_id
  FROM swept
  WHERE idle_id <> 0
    OR is_range AND NOT next_is_range
)
SELECT
  idle.gpu_id,
  segment.start_ns,
  segment.dur_ns,
  coalesce(nvtx_name.layer_name, '(no NVTX range)') AS subject,
  idle.gap_ns,
  idle.tid
FROM segment
JOIN idle
  ON idle.idle_id = segment.idle_id
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = segment.name_id
WHERE segment.dur_ns > 0
ORDER BY idle.gpu_id, segment.start_ns, segment.idle_id
