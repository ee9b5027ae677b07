/*---
name: capture_phase
summary: One row per phase of each process on each GPU, such as start-up and steady state, with what distinguishes them.
internal: true
present_if: [gpu_op, graph_trace]
stored: true
reads: [all_cuda_call, all_gpu_busy, all_kernel, all_memcpy, step_window, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: phase_id, type: id, doc: "Number of the phase of its process and GPU in order of time, from 0."}
  - {name: phase, type: text, doc: "start-up: before the first step after the warm-up. steady: the steps after the warm-up. tail: what follows them, with steps that are unlike the others. once: all of a process in which nothing repeats."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the phase, on the report's clock: the first CUDA call or GPU operation of the process, or the end of the phase before."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the phase: of the last step, or of the last CUDA call or GPU operation of the process."}
  - {name: step_count, type: int, unit: count, doc: "Steps in the phase: warm-up steps in start-up; null where nothing repeats."}
  - {name: first_kernel_count, type: int, unit: count, doc: "Distinct kernels of the start-up: each is loaded and runs for the first time. Null in other phases."}
  - {name: load_ns, type: duration, unit: ns, doc: "Time in calls that load modules and libraries; calls of several threads add up. Null if no CUDA calls were recorded."}
  - {name: memory_ns, type: duration, unit: ns, doc: "Time in calls that allocate, free, pin and unpin memory; null if no CUDA calls were recorded."}
  - {name: upload_ns, type: duration, unit: ns, doc: "GPU time of copies from the host that start in the phase."}
  - {name: upload_bytes, type: bytes, unit: bytes, doc: "Bytes of these copies."}
limits: >-
  The scope does not limit the events that are counted, only the steps. Processes without GPU work have no rows.
---*/
WITH
used AS MATERIALIZED (
  SELECT gpu_id, device_id, pid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM all_gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
  GROUP BY gpu_id, pid
),
function AS MATERIALIZED (
  SELECT
    string_id,
    text GLOB 'cu*ModuleLoad*' OR text GLOB 'cu*LibraryLoad*' OR text GLOB 'hipModuleLoad*' AS loads
  FROM string
  WHERE text GLOB 'cu*ModuleLoad*'
    OR text GLOB 'cu*LibraryLoad*'
    OR text GLOB 'hipModuleLoad*'
    OR text GLOB '*Malloc*'
    OR text GLOB 'cu*MemAlloc*'
    OR text GLOB 'cudaFree*'
    OR text GLOB 'hipFree*'
    OR text GLOB 'cuMemFree*'
    OR text GLOB 'cu*HostAlloc*'
    OR text GLOB 'cu*Host*egister*'
),
call AS MATERIALIZED (
  SELECT call.pid, call.start_ns, call.end_ns, function.loads
  -- Calls are not read if no function of the report loads or allocates.
  FROM (SELECT 1 FROM function LIMIT 1)
  CROSS JOIN all_cuda_call AS call
  JOIN function
    ON function.string_id = call.name_id
),
called AS MATERIALIZED (
  SELECT value ->> 0 AS pid, value ->> 2 AS start_ns, value ->> 3 AS end_ns
  FROM json_each((SELECT extents(pid, start_ns, end_ns) FROM all_cuda_call))
),
span AS (
  SELECT
    used.gpu_id,
    used.device_id,
    used.pid,
    min(used.start_ns, coalesce(called.start_ns, used.start_ns)) AS start_ns,
    max(used.end_ns, coalesce(called.end_ns, used.end_ns)) AS end_ns,
    called.pid IS NOT NULL AS has_calls
  FROM used
  LEFT JOIN called
    ON called.pid = used.pid
),
steady AS MATERIALIZED (
  SELECT
    gpu_id,
    pid,
    min(iif(part IN ('median', 'steady'), start_ns, NULL)) AS start_ns,
    max(iif(part IN ('median', 'steady'), end_ns, NULL)) AS end_ns,
    sum(part IN ('median', 'steady')) AS step_count,
    sum(part = 'warm-up') AS warm_up_count,
    sum(part = 'tail') AS tail_count
  FROM step_window
  WHERE step_count > 1
    OR is_only
  GROUP BY gpu_id, pid
),
kind (phase) AS (
  VALUES ('once'), ('start-up'), ('steady'), ('tail')
),
phase AS MATERIALIZED (
  SELECT
    span.gpu_id,
    span.device_id,
    span.pid,
    span.has_calls,
    CASE kind.phase
      WHEN 'steady' THEN steady.start_ns
      WHEN 'tail' THEN steady.end_ns
      ELSE span.start_ns
    END AS start_ns,
    CASE kind.phase
      WHEN 'start-up' THEN steady.start_ns
      WHEN 'steady' THEN steady.end_ns
      ELSE span.end_ns
    END AS end_ns,
    kind.phase,
    CASE kind.phase
      WHEN 'start-up' THEN steady.warm_up_count
      WHEN 'steady' THEN steady.step_count
      WHEN 'tail' THEN steady.tail_count
    END AS step_count
  FROM span
  LEFT JOIN steady
    ON steady.gpu_id = span.gpu_id
    AND steady.pid = span.pid
  CROSS JOIN kind
  WHERE CASE kind.phase
    WHEN 'once' THEN steady.pid IS NULL
    WHEN 'start-up' THEN span.start_ns < steady.start_ns
    WHEN 'steady' THEN steady.pid IS NOT NULL
    ELSE steady.end_ns < span.end_ns
  END
),
-- Start-up is short: most kernels come later.
first_kernel AS MATERIALIZED (
  SELECT phase.gpu_id, phase.pid, count(DISTINCT kernel.name_id) AS kernel_count
  FROM all_kernel AS kernel
  CROSS JOIN phase
  WHERE kernel.start_ns < (SELECT max(end_ns) FROM phase WHERE phase = 'start-up')
    AND phase.phase = 'start-up'
    AND phase.pid = kernel.pid
    AND phase.device_id = kernel.device_id
    AND phase.end_ns > kernel.start_ns
  GROUP BY phase.gpu_id, phase.pid
),
in_calls AS MATERIALIZED (
  SELECT
    phase.gpu_id,
    phase.pid,
    phase.phase,
    sum(iif(call.loads, min(call.end_ns, phase.end_ns) - max(call.start_ns, phase.start_ns), 0)) AS load_ns,
    sum(iif(call.loads, 0, min(call.end_ns, phase.end_ns) - max(call.start_ns, phase.start_ns))) AS memory_ns
  FROM phase
  JOIN call
    ON call.pid = phase.pid
    AND call.start_ns < phase.end_ns
    AND call.end_ns > phase.start_ns
  GROUP BY phase.gpu_id, phase.pid, phase.phase
),
uploaded AS MATERIALIZED (
  SELECT phase.gpu_id, phase.pid, phase.phase, sum(copy.dur_ns) AS upload_ns, sum(copy.size_bytes) AS upload_bytes
  FROM phase
  JOIN (SELECT pid, device_id, start_ns, dur_ns, size_bytes FROM all_memcpy WHERE copy_kind = 1) AS copy
    ON copy.pid = phase.pid
    AND copy.device_id = phase.device_id
    AND copy.start_ns >= phase.start_ns
    AND copy.start_ns < phase.end_ns
  GROUP BY phase.gpu_id, phase.pid, phase.phase
)
SELECT
  phase.gpu_id,
  phase.pid,
  row_number() OVER (PARTITION BY phase.gpu_id, phase.pid ORDER BY phase.start_ns, phase.end_ns) - 1 AS phase_id,
  phase.phase,
  phase.start_ns,
  phase.end_ns,
  phase.step_count,
  iif(phase.phase = 'start-up', coalesce(first_kernel.kernel_count, 0), NULL) AS first_kernel_count,
  iif(phase.has_calls, coalesce(in_calls.load_ns, 0), NULL) AS load_ns,
  iif(phase.has_calls, coalesce(in_calls.memory_ns, 0), NULL) AS memory_ns,
  coalesce(uploaded.upload_ns, 0) AS upload_ns,
  coalesce(uploaded.upload_bytes, 0) AS upload_bytes
FROM phase
LEFT JOIN first_kernel
  ON first_kernel.gpu_id = phase.gpu_id
  AND first_kernel.pid = phase.pid
LEFT JOIN in_calls
  ON in_calls.gpu_id = phase.gpu_id
  AND in_calls.pid = phase.pid
  AND in_calls.phase = phase.phase
LEFT JOIN uploaded
  ON uploaded.gpu_id = phase.gpu_id
  AND uploaded.pid = phase.pid
  AND uploaded.phase = phase.phase
