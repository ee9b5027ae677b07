/*---
name: profiler_steps
version: 1
title: Profiler steps
summary: One row per PyTorch ProfilerStep range, with all GPU work launched in it.
why: To see what each step of a training run launched from any thread, and which step to look into.
kind: sum
tags: [cuda, gpu, nvtx]
reads: [all_nvtx_range, nvtx_op, nvtx_range]
requires: [nvtx_range, nvtx_op]
params:
  - {name: tag, type: text, default: "ProfilerStep#*", doc: "GLOB pattern for the name of a step, with or without its domain."}
columns:
  - {name: step, type: int, priority: 0, doc: "Number at the end of the name; null if there is none, or without a range."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the range on the CPU; null without a range."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations that any thread of the process launched during the step."}
  - {name: thread_op_count, type: int, unit: count, label: "operations of own thread", doc: "Operations of op_count that the thread of the step launched itself."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", doc: "Operations of op_count that are kernels."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", doc: "Sum of the durations of the operations."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of the operations ran, on any device."}
  - {name: idle_ns, type: duration, unit: ns, label: "gaps in own work", priority: 1, doc: "span_ns - busy_ns: in these gaps no operation of the range ran, but other work may have run; null if span_ns is null."}
  - {name: span_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "proj_end_ns - proj_start_ns; null without a range or without GPU work."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock; null without a range."}
  - {name: proj_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "Start of the first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, label: "GPU end", priority: 3, doc: "End of the last operation on the GPU; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: tid, type: id, priority: 3, doc: "Operating system ID of the thread of the range; null without a range."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table; null without a range."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null without a range."}
  - {name: unattributed, type: text, label: "why in no step", priority: 0, doc: "Why the operations are in no step: outside every step, or no API row; null for a step."}
checks:
  - (range_id IS NULL) = (unattributed IS NOT NULL)
  - thread_op_count <= op_count AND kernel_count <= op_count
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0
when_empty: >-
  no range matches the tag, by default ProfilerStep#*: range_names lists the names, and -p tag=GLOB takes one
limits: >-
  An operation belongs to the step on its launching thread that is open during the whole call. If there is none, it
  belongs to the step of its process that started last, if that one is open during the whole call. So the backward pass
  counts, although PyTorch launches it from its own thread. --attribute has no effect here. A step inside another step
  of the same thread is ignored. If several threads of a process have their own steps, work of other threads goes to the
  step that started last. Spans of neighbouring steps overlap if the CPU runs ahead of the GPU. PyTorch repeats steps on
  the GPU side in the domain gpu_user_annotation; these copies are left out.
see_also: [iterations, gpu_time_by_range, nvtx_coverage]
---*/
WITH
-- done_ns shows which steps lie inside another step of their thread; these are ignored.
candidate AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY global_tid
      ORDER BY start_ns, end_ns DESC, range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS done_ns
  FROM all_nvtx_range
  WHERE (range_text GLOB :tag OR range_name GLOB :tag)
    AND coalesce(domain_name, '') <> 'gpu_user_annotation'
),
step AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_tid ORDER BY start_ns, end_ns DESC, range_id) AS of_thread,
    row_number() OVER (PARTITION BY global_pid ORDER BY start_ns, end_ns DESC, range_id) AS of_process
  FROM candidate
  WHERE done_ns IS NULL OR end_ns > done_ns
),
-- When the steps of each thread and of each process run. A call may end when its step ends.
place AS MATERIALIZED (
  SELECT
    time_places(global_tid, start_ns, end_ns + 1) AS of_thread,
    time_places(global_pid, start_ns, end_ns + 1) AS of_process
  FROM step
),
-- A launch belongs to the last step that its thread, or else its process, has begun.
placed AS (
  SELECT
    op.op_kind,
    op.global_pid,
    op.call_id,
    op.start_ns,
    op.end_ns,
    op.dur_ns,
    -- SQLite can index a cast, to join it with row IDs, but not what coalesce returns.
    CAST(coalesce(own.range_id, other.range_id) AS INTEGER) AS range_id,
    own.range_id IS NOT NULL AS is_own
  FROM nvtx_op AS op
  LEFT JOIN step AS own
    ON own.global_tid = op.global_tid
    AND own.of_thread = 1 + place_of((SELECT of_thread FROM place), op.global_tid, op.call_start_ns)
    AND own.end_ns >= op.call_end_ns
  LEFT JOIN step AS other
    ON other.global_pid = op.global_pid
    AND other.of_process = 1 + place_of((SELECT of_process FROM place), op.global_pid, op.call_start_ns)
    AND other.end_ns >= op.call_end_ns
  WHERE EXISTS (SELECT 1 FROM step)
),
summed AS MATERIALIZED (
  SELECT
    range_id,
    CASE
      WHEN range_id IS NOT NULL THEN NULL
      WHEN call_id IS NULL THEN 'no API row'
      ELSE 'outside every step'
    END AS unattributed,
    iif(range_id IS NULL, global_pid, NULL) AS outside_pid,
    count(DISTINCT call_id) AS launch_count,
    count(*) AS op_count,
    sum(is_own) AS thread_op_count,
    sum(op_kind = 'kernel') AS kernel_count,
    sum(dur_ns) AS gpu_ns,
    busy_ns(start_ns, end_ns) AS busy_ns,
    min(start_ns) AS proj_start_ns,
    max(end_ns) AS proj_end_ns
  FROM placed
  GROUP BY 1, 2, 3
),
shown AS (
  SELECT
    step.range_id,
    step.range_name,
    step.range_text,
    step.pid,
    step.tid,
    step.global_tid,
    step.start_ns,
    step.dur_ns AS cpu_ns,
    summed.unattributed,
    summed.launch_count,
    summed.op_count,
    summed.thread_op_count,
    summed.kernel_count,
    summed.gpu_ns,
    summed.busy_ns,
    summed.proj_start_ns,
    summed.proj_end_ns
  FROM step
  LEFT JOIN summed
    ON summed.range_id = step.range_id
  WHERE summed.op_count > 0
    OR step.range_id IN (SELECT range_id FROM nvtx_range)
  UNION ALL
  SELECT
    NULL,
    NULL,
    NULL,
    outside_pid >> 24 & 16777215,
    NULL,
    outside_pid,
    NULL,
    NULL,
    unattributed,
    launch_count,
    op_count,
    thread_op_count,
    kernel_count,
    gpu_ns,
    busy_ns,
    proj_start_ns,
    proj_end_ns
  FROM summed
  WHERE range_id IS NULL
    AND EXISTS (SELECT 1 FROM step)
)
SELECT
  CAST(nullif(substr(range_text, length(rtrim(range_text, '0123456789')) + 1), '') AS INTEGER) AS step,
  cpu_ns,
  coalesce(launch_count, 0) AS launch_count,
  coalesce(op_count, 0) AS op_count,
  coalesce(thread_op_count, 0) AS thread_op_count,
  coalesce(kernel_count, 0) AS kernel_count,
  coalesce(gpu_ns, 0) AS gpu_ns,
  coalesce(busy_ns, 0) AS busy_ns,
  iif(range_id IS NULL, NULL, proj_end_ns - proj_start_ns - busy_ns) AS idle_ns,
  iif(range_id IS NULL, NULL, proj_end_ns - proj_start_ns) AS span_ns,
  start_ns,
  proj_start_ns,
  proj_end_ns,
  pid,
  tid,
  range_id,
  range_name,
  unattributed
FROM shown
ORDER BY unattributed, global_tid, start_ns, range_id
