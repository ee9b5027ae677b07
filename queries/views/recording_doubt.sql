/*---
name: recording_doubt
summary: One row per kind of event whose recording takes noticeable host time.
internal: true
present_if: [recording_cost, step_window]
reads: [export_fact, gpu_window, launch, recording_cost, report_source, step_window, string, waiting_gpu]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  recording_cost has the estimate for ranges and CUDA calls. For launches there is a price of nsys 2024, from programs
  that were measured with nsys and without (fixtures/pairs). A CUDA graph is one launch, so captures with graph
  launches have no such row.
---*/
WITH
-- The longest median step in which the GPU waits.
longest_step AS MATERIALIZED (
  SELECT step.pid, step.cpu_start_ns, step.cpu_end_ns, step.dur_ns, gpu.idle_ns
  FROM step_window AS step
  CROSS JOIN gpu_window AS gpu
  WHERE EXISTS (SELECT 1 FROM export_fact WHERE fact = 'EXPORT_PRODUCT_VERSION' AND value GLOB '2024.*')
    AND step.part = 'median'
    AND gpu.gpu_id = step.gpu_id
    AND gpu.start_ns = step.start_ns
    AND gpu.end_ns = step.end_ns
    AND 22000 * step.op_count <= gpu.idle_ns
    AND NOT EXISTS (SELECT 1 FROM string WHERE text GLOB 'cu*GraphLaunch*')
  ORDER BY step.dur_ns DESC, step.op_count DESC
  LIMIT 1
),
-- Other threads launch in the step, too, such as that of the backward pass.
step_launch AS (
  SELECT
    longest_step.dur_ns,
    longest_step.idle_ns,
    launch.call_start_ns - lag(launch.call_start_ns)
      OVER (PARTITION BY launch.global_tid ORDER BY launch.call_start_ns) AS apart_ns
  FROM longest_step
  CROSS JOIN launch
  WHERE launch.pid = longest_step.pid
    AND launch.call_start_ns BETWEEN longest_step.cpu_start_ns AND longest_step.cpu_end_ns
),
-- Launches that follow each other in less time cost less.
recorded_launch AS (
  SELECT count(*) AS launch_count, dur_ns
  FROM step_launch
  GROUP BY dur_ns, idle_ns
  HAVING count(*) >= 10
    AND median(apart_ns) >= 16000
    AND 16000 * count(*) >= 0.04 * dur_ns
    AND 22000 * count(*) <= idle_ns
)
SELECT
  310 AS priority,
  iif(is_waiting, 'distorted', 'note') AS severity,
  'many ' || CASE
    WHEN event_kind = 'call' THEN 'CUDA calls'
    WHEN is_trace THEN 'recorded operators'
    ELSE 'NVTX ranges'
  END AS problem,
  printf(
    '%d %s, %.1f for each GPU operation. %s up to %.1f µs: %.1f ms, %.0f %% of the threads'' time.',
    event_count,
    CASE
      WHEN event_kind = 'call' THEN 'CUDA calls'
      WHEN is_trace THEN 'operators and annotations'
      ELSE 'ranges'
    END,
    1.0 * event_count / op_count,
    iif(is_trace OR event_kind = 'call', 'Recording one takes', 'Push and pop take'),
    cost_ns / 1e3,
    event_count * cost_ns / 1e6,
    thread_pct
  ) AS detail,
  CASE
    WHEN event_kind = 'call' THEN 'the time of a step without the profiler, to compare'
    WHEN recorder = 'PyTorch' THEN 'fewer events: a schedule of few steps, and record_shapes=False'
    WHEN is_trace THEN 'fewer events: a trace of few steps'
    ELSE 'fewer ranges: for PyTorch without emit_nvtx and --pytorch=autograd-nvtx, with ranges for steps and phases'
  END AS remedy
FROM recording_cost
CROSS JOIN waiting_gpu
CROSS JOIN report_source
-- Longer medians are work of the program: recording takes some tenths of a microsecond, in Python some microseconds.
WHERE cost_ns < iif(event_kind = 'call', 5000, 50000)
  AND thread_pct >= iif(event_kind = 'call', 10, 5)
UNION ALL
SELECT
  310,
  'note',
  'recorded launches',
  printf(
    'Recording takes host time: nsys 2024.2 took 16 to 22 µs for each launch on a host of an H100. At that price, '
      || 'the %d launches of a step take %.1f to %.1f of its %.1f ms.',
    launch_count,
    launch_count * 16e-3,
    launch_count * 22e-3,
    dur_ns / 1e6
  ),
  'the time of a step without the profiler, to compare'
FROM recorded_launch
