/*---
name: work_doubt
summary: One row per reason why GPU work is not in the report.
internal: true
present_if: [gpu_op, graph_trace]
reads: [cuda_call, graph_trace, gpu_window, nvtx_name, nvtx_projection, report_source, sampled_call, string, unseen_work]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  Unseen work is a row from 2 % of GPU time on. Steps without GPU work are those of a PyTorch trace, if they are more
  than half. launch_doubt has the launches whose work is missing.
---*/
WITH
unseen AS (
  SELECT
    count(*) AS waits,
    sum(unseen_ns) AS unseen_ns,
    iif(min(pid) = max(pid), printf('process %d', min(pid)), 'the processes') AS who,
    (SELECT sum(window_ns) FROM gpu_window) AS window_ns
  FROM unseen_work
),
-- Functions of the host in a stream, which are not recorded. Calls are not read if nothing waited.
host_function AS MATERIALIZED (
  SELECT min(cuda_call.api_name) AS api_name, count(*) AS calls
  FROM (SELECT 1 FROM unseen_work LIMIT 1)
  CROSS JOIN cuda_call
  WHERE cuda_call.name_id IN (
      SELECT string_id
      FROM string
      WHERE text GLOB 'cu*LaunchHostFunc*'
        OR text GLOB 'cu*StreamAddCallback*'
    )
),
step AS (
  SELECT count(*) AS steps, count(*) FILTER (WHERE op_count = 0) AS empty
  -- Ranges are not read if the report is of nsys.
  FROM report_source
  CROSS JOIN nvtx_name AS name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE is_trace
    AND name.range_text GLOB 'ProfilerStep[#]*'
),
graph AS (
  SELECT count(*) AS executions, sum(dur_ns) AS total_ns
  FROM graph_trace
)
SELECT
  120 AS priority,
  'partial' AS severity,
  'sampled trace' AS problem,
  printf(
    'The trace is a sample: the correlation IDs of its %d CUDA calls are %.0f apart on average, 1 to 20 '
      || 'in complete traces. Counts, idle time and overlap are wrong.',
    call_count,
    id_distance
  ) AS detail,
  'a trace with all events' AS remedy
FROM sampled_call
UNION ALL
SELECT
  125,
  iif(10 * unseen_ns >= window_ns, 'partial', 'note'),
  'GPU work that is not in the report',
  printf(
    'Work of %s waited %.1f ms (%.1f %% of GPU time) while no recorded work ran: '
      || 'for %swork from before the capture, of another process, or lost.',
    who,
    unseen_ns / 1e6,
    100.0 * unseen_ns / window_ns,
    iif(
      2 * calls >= waits,
      printf('functions of the host (%s, %d %s), ', api_name, calls, iif(calls = 1, 'call', 'calls')),
      ''
    )
  ),
  CASE
    WHEN 2 * calls >= waits THEN 'an NVTX range in each function that ' || api_name || ' runs'
    WHEN is_trace THEN wait_call || ' before the profiler starts, and a trace with all events'
    ELSE 'cudaDeviceSynchronize() before the capture starts, and a capture of all processes'
  END
FROM unseen
CROSS JOIN report_source
CROSS JOIN host_function
WHERE unseen_ns > 0 AND 50 * unseen_ns >= window_ns
UNION ALL
SELECT
  170,
  'partial',
  'steps without GPU work',
  printf('%d of %d profiler steps have no GPU work in the trace: their GPU time is unknown.', empty, steps),
  'call prof.step() once per iteration, and record fewer steps'
FROM step
WHERE steps > 1 AND 2 * empty > steps
UNION ALL
SELECT
  200,
  'partial',
  'CUDA graphs traced as a whole',
  printf(
    '%d executions of CUDA graphs, %s of GPU time: the kernels inside are not in the report.',
    executions,
    iif(total_ns < 1e5, printf('%.1f µs', total_ns / 1e3), printf('%.1f ms', total_ns / 1e6))
  ),
  'nsys profile --cuda-graph-trace=node'
FROM graph
WHERE executions > 0
