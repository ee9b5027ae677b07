/*---
name: decode_gaps
version: 1
title: Gaps before decode steps
summary: Gaps on the GPU before decode steps, with the host's work, longest first.
why: To see what the scheduler did on the CPU while the GPU waited for the next decode step.
kind: trace
tags: [cuda, gpu, latency, nvtx]
reads: [all_cuda_call, all_nvtx_range, all_serving_annotation, serving_step]
requires: [nvtx_range, nvtx_op]
params:
  - {name: kind, type: enum, values: [decode, mixed, prefill, all], default: decode, doc: "Kind of the step after the gap."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: step, type: int, priority: 0, doc: "Step after the gap: position by start among the steps of the thread, from 0."}
  - {name: kind, type: text, priority: 0, doc: "Kind of the step after the gap."}
  - {name: sequences, type: int, unit: count, priority: 2, doc: "Sequences of the step after the gap; null if the name does not contain it."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the GPU work of all earlier steps, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "gap on the GPU", priority: 1, doc: "Time from start_ns to the first GPU operation of the step."}
  - {name: host_gap_ns, type: duration, unit: ns, label: "gap on the CPU", priority: 1, doc: "Time from the end of the previous step to the start of this one on the CPU: the scheduler."}
  - {name: launch_ns, type: duration, unit: ns, label: "step start to first op.", priority: 1, doc: "Time from the start of the step on the CPU to its first GPU operation."}
  - {name: call_ns, type: duration, unit: ns, label: "CUDA calls in CPU gap", priority: 1, doc: "Part of host_gap_ns in which the thread was in CUDA calls that began in it, such as a wait for the GPU."}
  - {name: longest_range, type: text, label: "longest range in CPU gap", priority: 1, doc: "Range of the thread that took the most of host_gap_ns, of those that began in it; null if there is none."}
  - {name: longest_range_ns, type: duration, unit: ns, label: "longest range", priority: 2, doc: "Part of host_gap_ns in longest_range; null if there is none."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table of the step's range."}
checks:
  - dur_ns > 0 AND host_gap_ns >= 0
  - call_ns BETWEEN 0 AND host_gap_ns
  - longest_range_ns IS NULL OR longest_range_ns BETWEEN 0 AND host_gap_ns
when_empty: "no step of this kind has a gap before it on the GPU, or no range has the name of a serving step; see serving_steps"
limits: >-
  The gap is between the work of steps: sampling and copies outside the annotated steps may run in it. The CPU gap and
  the gap on the GPU need not overlap if the CPU runs ahead. Work of the host without ranges is not named; PyTorch traces
  name Python functions if imported with --python-functions.
see_also: [serving_steps, serving_sum, gpu_idle_host]
---*/
WITH
annotated AS MATERIALIZED (
  SELECT range_id, global_tid, step, start_ns, end_ns, start_ns - host_gap_ns AS previous_end_ns
  FROM all_serving_annotation
),
-- Steps, ranges and calls of their threads in order of time, with the number of steps that have begun.
event AS (
  SELECT global_tid, start_ns, end_ns, 'step' AS what, range_id AS id
  FROM annotated
  UNION ALL
  SELECT global_tid, start_ns, end_ns, 'range', range_id
  FROM all_nvtx_range
  WHERE global_tid IN (SELECT global_tid FROM annotated)
    AND range_id NOT IN (SELECT range_id FROM annotated)
  UNION ALL
  SELECT global_tid, start_ns, end_ns, 'call', call_id
  FROM all_cuda_call
  WHERE global_tid IN (SELECT global_tid FROM annotated)
),
begun AS MATERIALIZED (
  SELECT
    *,
    sum(what = 'step') OVER (
      PARTITION BY global_tid
      ORDER BY start_ns, what DESC, id
      ROWS UNBOUNDED PRECEDING
    ) AS next_step
  FROM event
),
-- What began between a step and the step before it, cut to the start of the step.
inside AS MATERIALIZED (
  SELECT
    annotated.range_id AS step_id,
    begun.what,
    begun.id,
    begun.start_ns,
    min(begun.end_ns, annotated.start_ns) AS end_ns
  FROM begun
  JOIN annotated
    ON annotated.global_tid = begun.global_tid
    AND annotated.step = begun.next_step
    AND annotated.previous_end_ns <= begun.start_ns
  WHERE begun.what <> 'step'
),
called AS (
  SELECT step_id, busy_ns(start_ns, end_ns) AS call_ns
  FROM inside
  WHERE what = 'call'
  GROUP BY step_id
),
longest AS (
  SELECT step_id, id, end_ns - start_ns AS dur_ns
  FROM (
    SELECT
      *,
      row_number() OVER (PARTITION BY step_id ORDER BY end_ns - start_ns DESC, start_ns, id) AS nth
    FROM inside
    WHERE what = 'range'
  )
  WHERE nth = 1
)
SELECT
  step.step,
  step.kind,
  step.sequences,
  step.proj_start_ns - step.gap_ns AS start_ns,
  step.gap_ns AS dur_ns,
  step.host_gap_ns,
  step.proj_start_ns - step.start_ns AS launch_ns,
  coalesce(called.call_ns, 0) AS call_ns,
  (SELECT range_name FROM all_nvtx_range WHERE range_id = longest.id) AS longest_range,
  longest.dur_ns AS longest_range_ns,
  step.pid,
  step.tid,
  step.range_id
FROM serving_step AS step
LEFT JOIN called
  ON called.step_id = step.range_id
LEFT JOIN longest
  ON longest.step_id = step.range_id
WHERE step.gap_ns > 0
  AND :kind IN ('all', step.kind)
ORDER BY step.gap_ns DESC, step.range_id
LIMIT :limit
