/*---
name: host_work
version: 4
title: "Host-bound: the GPU idles while the host runs other code"
summary: Idle time of a GPU while the launching thread runs outside CUDA.
why: To see which part of the program, such as Python or data loading, the GPU waits for.
kind: finding
tags: [cuda, gpu, nvtx]
reads: [compute_gap_part, launch, mpi_call, nvtx_name, nvtx_projection, operator_gap, outside_wait]
requires: [compute_gap_part]
finding:
  claim: "Host-bound: the GPU idles while the launching thread runs non-CUDA code."
  ceiling: Time outside the CUDA API in gaps of half a millisecond or more, before the next launch. Calls of CUDA and MPI in these gaps do not count, nor do recorded waits for requests, other processes or a time, nor gaps that operators of a framework fill, which are launch_bound.
  remedy: >-
    Do this work ahead while the GPU runs, in another thread, or on the GPU.
  in_pytorch: >-
    batches from DataLoader workers, sampling and metrics on the GPU, logs and files from a thread.
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
  - {name: subject, type: text, label: "NVTX range", priority: 0, doc: "Innermost push/pop range of the thread, each number replaced by *; (no NVTX range) if none was open. If the thread is in no range for half of the gap, such as one that waits for its turn, the range of the thread that launched the operation before the gap."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap", doc: "Length of the whole gap."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  The thread may itself wait, for another thread, a file or the processor, and without OS calls in the report for
  anything: time outside CUDA is not only computation. Initialization and the time between two phases of a program count too; choose a window with --time or
  --window to leave them out. Start/end ranges of NVTX are not used.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [gpu_idle_causes, data_loading, launch_bound, mpi_wait]
---*/
WITH
part AS MATERIALIZED (
  SELECT part_id, gpu_id, start_ns, end_ns, gap_start_ns, gap_ns, tid, global_tid, before_kind, before_id
  FROM compute_gap_part
  WHERE part = 'outside CUDA API'
    AND gap_ns >= :least_gap
    AND (gpu_id, gap_start_ns) NOT IN (SELECT gpu_id, gap_start_ns FROM operator_gap)
),
near AS MATERIALIZED (
  SELECT range_id, parent_id, depth, start_ns, end_ns, global_tid, name_id
  FROM nvtx_projection
  WHERE range_kind = 'PushPop'
    AND end_ns > start_ns
    AND overlap_ns((SELECT time_set(start_ns, end_ns) FROM part), start_ns, end_ns) > 0
),
-- A thread that is in no range may wait for the one before it, as that of autograd for the one that calls backward().
bare AS MATERIALIZED (
  SELECT DISTINCT before_kind, before_id, global_tid, gpu_id, gap_start_ns
  FROM part
  WHERE EXISTS (SELECT 1 FROM near)
    AND 2 * coalesce(
        overlap_ns(
          (SELECT time_set(global_tid, start_ns, end_ns) FROM near),
          global_tid,
          gap_start_ns,
          gap_start_ns + gap_ns
        ),
        0
      ) < gap_ns
),
handed AS MATERIALIZED (
  SELECT bare.gpu_id, bare.gap_start_ns, bare.global_tid, launch.global_tid AS before_tid
  FROM launch
  JOIN bare
    ON bare.before_kind = launch.op_kind
    AND bare.before_id = launch.op_id
  WHERE EXISTS (SELECT 1 FROM bare)
    AND launch.global_tid <> bare.global_tid
),
gap AS MATERIALIZED (
  SELECT
    part.part_id,
    part.gpu_id,
    part.start_ns,
    part.end_ns,
    part.gap_ns,
    part.tid,
    part.global_tid,
    coalesce(handed.before_tid, part.global_tid) AS place_tid
  FROM part
  LEFT JOIN handed
    ON handed.gpu_id = part.gpu_id
    AND handed.gap_start_ns = part.gap_start_ns
    AND handed.global_tid = part.global_tid
),
-- Without the time in MPI calls, which is mpi_wait, and in waits for what sets the pace. A thread may feed several
-- GPUs.
other AS (
  SELECT global_tid, call_id, start_ns, end_ns
  FROM mpi_call
  UNION ALL
  SELECT DISTINCT global_tid, call_id, start_ns, end_ns
  FROM outside_wait
),
idle AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY gap.gpu_id, part.start_ns) AS idle_id,
    gap.gpu_id,
    part.start_ns,
    part.end_ns,
    gap.gap_ns,
    gap.tid,
    gap.place_tid AS global_tid
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM gap),
    (SELECT time_spans_apart(global_tid, call_id, start_ns, end_ns) FROM other)
  ) AS part
  JOIN gap
    ON gap.part_id = part.span_id
  WHERE part.by_id IS NULL
    AND part.end_ns - part.start_ns >= :least
),
-- Of gaps rather than of idle time, which SQLite would expand once more for each: it gives up at 1,000 tables.
thread AS MATERIALIZED (
  SELECT DISTINCT place_tid AS global_tid, gpu_id
  FROM gap
),
range AS MATERIALIZED (
  SELECT *
  FROM near
  WHERE global_tid IN (SELECT global_tid FROM thread)
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
-- The first row of each number of range events is itself an event. Most have no idle time after them.
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
