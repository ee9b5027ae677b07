/*---
name: profiler_steps
version: 1
title: Profiler steps
summary: PyTorch's ProfilerStep ranges one by one, with all that was launched in each.
why: To see what each step of a training run launched, from whatever thread, and which one to look into.
kind: sum
tags: [cuda, gpu, nvtx]
reads: [all_nvtx_range, nvtx_op, nvtx_range]
requires: [nvtx_range, nvtx_op]
params:
  - {name: tag, type: text, default: "ProfilerStep#*", doc: "GLOB over the range's name or its text: what is a step."}
columns:
  - {name: step, type: int, doc: "Number at the end of the name; null if there is none, and in rows without a range."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Length of the range on the CPU; null without a range."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched its GPU operations: a graph launch is one, whatever it runs."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations that were launched while it was open, by any thread of its process."}
  - {name: thread_op_count, type: int, unit: count, doc: "Those of op_count that its own thread launched: all that --attribute thread would see."}
  - {name: kernel_count, type: int, unit: count, doc: "Those of op_count that are kernels."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of the operations, whatever the device."}
  - {name: idle_ns, type: duration, unit: ns, doc: "span_ns less busy_ns: none of its operations ran; null as span_ns."}
  - {name: span_ns, type: duration, unit: ns, doc: "From proj_start_ns to proj_end_ns; null without a range or without GPU work."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began on the CPU, on the report's clock; null without a range."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "First of the operations began on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "Last of them ended; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not say."}
  - {name: tid, type: id, doc: "Thread of the range; null without a range."}
  - {name: range_id, type: id, doc: "Row of the raw table; null where unattributed says why."}
  - {name: range_name, type: text, doc: "Name of the range, behind its domain and a colon outside the default domain; null without a range."}
  - {name: unattributed, type: text, doc: "Why the operations are in no step: outside every step, or no API row; null for a step."}
checks:
  - (range_id IS NULL) = (unattributed IS NOT NULL)
  - thread_op_count <= op_count AND kernel_count <= op_count
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0
limits: >-
  An operation belongs to the step of the launching thread that was open for the whole call, else to the one that began
  last in the process, if it was open for the whole call: so the backward pass, which PyTorch launches from a thread of
  its own, is in. --attribute changes nothing here. A step inside another one of its thread is none. Where several
  threads of a process have steps of their own, what a further thread launches goes to the step that began last. Spans
  of neighbours overlap where the CPU runs ahead. PyTorch repeats steps on the GPU's side; those (domain
  gpu_user_annotation) are left out.
see_also: [iterations, gpu_time_by_range, nvtx_coverage]
---*/
WITH
-- In a step that lies inside another one of its thread nothing is looked for.
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
step AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_tid ORDER BY start_ns, end_ns DESC, range_id) AS of_thread,
    row_number() OVER (PARTITION BY global_pid ORDER BY start_ns, end_ns DESC, range_id) AS of_process
  FROM candidate
  WHERE done_ns IS NULL OR end_ns > done_ns
  LIMIT -1
),
op AS (
  SELECT
    op_kind,
    op_id,
    global_pid,
    global_tid,
    call_id,
    call_start_ns,
    call_end_ns,
    start_ns,
    end_ns,
    dur_ns
  FROM nvtx_op
  LIMIT -1
),
-- Steps and launches in order of time: before each launch so many steps have begun, on its thread and in its process.
event AS (
  SELECT global_pid, global_tid, start_ns AS at_ns, 1 AS is_step, NULL AS op_kind, NULL AS op_id
  FROM step
  UNION ALL
  SELECT global_pid, global_tid, call_start_ns, 0, op_kind, op_id
  FROM op
  WHERE call_id IS NOT NULL
),
begun AS (
  SELECT
    *,
    sum(is_step) OVER (
      PARTITION BY global_tid
      ORDER BY at_ns, is_step DESC
      ROWS UNBOUNDED PRECEDING
    ) AS of_thread,
    sum(is_step) OVER (
      PARTITION BY global_pid
      ORDER BY at_ns, is_step DESC
      ROWS UNBOUNDED PRECEDING
    ) AS of_process
  FROM event
),
placed AS (
  SELECT
    op.*,
    coalesce(own.range_id, other.range_id) AS range_id,
    own.range_id IS NOT NULL AS is_own
  FROM op
  LEFT JOIN begun
    ON begun.op_kind = op.op_kind
    AND begun.op_id = op.op_id
  LEFT JOIN step AS own
    ON own.global_tid = op.global_tid
    AND own.of_thread = begun.of_thread
    AND own.end_ns >= op.call_end_ns
  LEFT JOIN step AS other
    ON other.global_pid = op.global_pid
    AND other.of_process = begun.of_process
    AND other.end_ns >= op.call_end_ns
),
summed AS (
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
  LIMIT -1
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
