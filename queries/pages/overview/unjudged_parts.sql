/*---
name: unjudged_parts
version: 1
title: What the host does outside the steps
summary: What the launching thread does before and after the steps while no GPU works.
why: A program that reads files for seconds before a few steps, or computes on the host after them, is not its steps.
kind: info
internal: true
tags: [api, osrt]
reads: [all_cuda_call, all_gpu_busy, all_os_call, capture_phase, os_function, string]
requires: [cuda_call, "gpu_op | graph_trace"]
rows_if: "EXISTS (SELECT 1 FROM capture_phase WHERE phase IN ('start-up', 'tail') AND end_ns - start_ns >= 500000000)"
params:
  - {name: at_least, type: duration, default: 500ms, min: 0, doc: "Shortest phase."}
  - {name: least_pct, type: real, default: 20, min: 0, max: 100, doc: "Smallest share of the phase, in percent; for allocations, half."}
  - {name: many, type: int, default: 200, min: 1, doc: "Fewest calls that allocate or free memory."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU of the phase, as in capture_phase."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: phase, type: text, priority: 0, doc: "start-up or tail, as in capture_phase."}
  - {name: function_name, type: text, label: "call", priority: 0, doc: "Function of the operating system that the thread is in, or the first one by name that allocates; null outside CUDA and outside these calls."}
  - {name: role, type: text, priority: 1, doc: "What the function waits for or does, as in os_function; memory for all calls of CUDA that allocate or free memory; null outside these calls."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Number of these calls; null outside them."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Time of the thread in it; outside these calls, only while the GPU does nothing for the process."}
  - {name: phase_ns, type: duration, unit: ns, label: "whole phase", priority: 1, doc: "Length of the phase; of the tail, until the last CUDA call or GPU operation."}
checks:
  - total_ns <= phase_ns
limits: >-
  Only the thread with most time in CUDA calls, of phases of at_least or more that are longer than the steps. Calls of the
  operating system below 10 µs do not count. Without recorded ones, time outside CUDA may be waits.
see_also: [capture_phases, idle_calls]
---*/
WITH
steady AS (
  SELECT gpu_id, pid, sum(end_ns - start_ns) AS steady_ns
  FROM capture_phase
  WHERE phase = 'steady'
  GROUP BY gpu_id, pid
),
phase AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY capture_phase.gpu_id, capture_phase.pid, capture_phase.start_ns) AS phase_no,
    capture_phase.gpu_id,
    capture_phase.pid,
    capture_phase.phase,
    capture_phase.start_ns,
    capture_phase.end_ns
  FROM capture_phase
  JOIN steady
    ON steady.gpu_id = capture_phase.gpu_id
    AND steady.pid = capture_phase.pid
  WHERE capture_phase.phase IN ('start-up', 'tail')
    AND capture_phase.end_ns - capture_phase.start_ns >= max(:at_least, steady.steady_ns)
),
thread AS MATERIALIZED (
  SELECT phase_no, global_tid
  FROM (
    SELECT
      phase.phase_no,
      call.global_tid,
      row_number() OVER (
        PARTITION BY phase.phase_no
        ORDER BY sum(call.end_ns - call.start_ns) DESC, call.global_tid
      ) AS nth
    FROM phase
    JOIN all_cuda_call AS call
      ON call.pid = phase.pid
      AND call.start_ns < phase.end_ns
      AND call.end_ns > phase.start_ns
    GROUP BY phase.phase_no, call.global_tid
  )
  WHERE nth = 1
),
os AS MATERIALIZED (
  SELECT
    phase.phase_no,
    call.name_id,
    call.function_name,
    max(call.start_ns, phase.start_ns) AS start_ns,
    min(call.end_ns, phase.end_ns) AS end_ns
  FROM phase
  JOIN thread
    ON thread.phase_no = phase.phase_no
  JOIN all_os_call AS call
    ON call.global_tid = thread.global_tid
    AND call.start_ns < phase.end_ns
    AND call.end_ns > phase.start_ns
  WHERE call.dur_ns >= 10000
    AND coalesce(call.nesting_level, 0) = 0
),
taken AS (
  SELECT phase_no, start_ns, end_ns
  FROM os
  UNION ALL
  SELECT phase.phase_no, max(call.start_ns, phase.start_ns), min(call.end_ns, phase.end_ns)
  FROM phase
  JOIN thread
    ON thread.phase_no = phase.phase_no
  JOIN all_cuda_call AS call
    ON call.global_tid = thread.global_tid
    AND call.start_ns < phase.end_ns
    AND call.end_ns > phase.start_ns
  UNION ALL
  SELECT phase.phase_no, max(busy.start_ns, phase.start_ns), min(busy.end_ns, phase.end_ns)
  FROM phase
  JOIN all_gpu_busy AS busy
    ON busy.gpu_id = phase.gpu_id
    AND busy.pid = phase.pid
    AND busy.start_ns < phase.end_ns
    AND busy.end_ns > phase.start_ns
  WHERE busy.level = 'process'
    AND busy.activity = 'any'
),
own AS (
  SELECT phase_no, busy_ns(start_ns, end_ns) AS taken_ns
  FROM taken
  GROUP BY phase_no
),
-- Many of these are no start of a program, but steps of another part.
allocating AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB 'cudaMalloc*'
    OR text GLOB 'cudaFree*'
    OR text GLOB 'cuMemAlloc*'
    OR text GLOB 'cuMemFree*'
    OR text GLOB 'hipMalloc*'
    OR text GLOB 'hipFree*'
),
part AS (
  SELECT phase_no, function_name, name_id, count(*) AS call_count, busy_ns(start_ns, end_ns) AS total_ns
  FROM os
  GROUP BY phase_no, name_id
  UNION ALL
  SELECT phase.phase_no, min(call.api_name), -1, count(*), sum(call.end_ns - call.start_ns)
  FROM phase
  JOIN thread
    ON thread.phase_no = phase.phase_no
  JOIN all_cuda_call AS call
    ON call.global_tid = thread.global_tid
    AND call.start_ns >= phase.start_ns
    AND call.end_ns <= phase.end_ns
  WHERE call.name_id IN (SELECT string_id FROM allocating)
  GROUP BY phase.phase_no
  HAVING count(*) >= :many
  UNION ALL
  SELECT phase.phase_no, NULL, NULL, NULL, phase.end_ns - phase.start_ns - own.taken_ns
  FROM phase
  JOIN own
    ON own.phase_no = phase.phase_no
)
SELECT
  phase.gpu_id,
  phase.pid,
  phase.phase,
  part.function_name,
  iif(part.name_id = -1, 'memory', (SELECT role FROM os_function WHERE os_function.name_id = part.name_id)) AS role,
  part.call_count,
  part.total_ns,
  phase.end_ns - phase.start_ns AS phase_ns
FROM part
JOIN phase
  ON phase.phase_no = part.phase_no
WHERE 100.0 * part.total_ns >= iif(part.name_id = -1, 0.5, 1) * :least_pct * (phase.end_ns - phase.start_ns)
ORDER BY phase.gpu_id, phase.pid, phase.start_ns, part.total_ns DESC, part.function_name
