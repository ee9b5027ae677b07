/*---
name: overhead_doubt
summary: One row per activity of the profiler that takes time from the program.
internal: true
present_if: [profiler_overhead, cpu_sample, export_fact]
reads: [cpu_sample, export_fact, import_count, op_total, process_device, profiler_overhead, waiting_gpu]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  Overhead and samples are those from the first GPU operation to the last, which is the time that figures are about.
  recording_doubt has what events cost if they are many.
---*/
WITH
overhead AS (
  SELECT
    sum(min(overhead.end_ns, work.end_ns) - max(overhead.start_ns, work.start_ns)) AS total_ns,
    work.end_ns - work.start_ns AS window_ns
  FROM op_total AS work
  JOIN profiler_overhead AS overhead
    ON overhead.start_ns < work.end_ns
    AND overhead.end_ns > work.start_ns
    AND overhead.is_own
    -- Other processes wait for nothing on the GPU, such as 78 that compile.
    AND coalesce(overhead.global_pid IN (SELECT global_pid FROM process_device), 1)
),
stacks AS (
  SELECT
    max(fact = 'TRACE_WITH_STACK') AS has_stacks,
    group_concat(
      CASE fact
        WHEN 'TRACE_WITH_STACK' THEN 'call stacks'
        WHEN 'TRACE_RECORD_SHAPES' THEN 'shapes'
        WHEN 'TRACE_PROFILE_MEMORY' THEN 'memory'
        WHEN 'TRACE_WITH_FLOPS' THEN 'FLOPs'
        WHEN 'TRACE_WITH_MODULES' THEN 'modules'
      END,
      ', '
    ) AS list,
    max(fact = 'TRACE_RECORD_SHAPES') AS has_shapes,
    (SELECT coalesce(max(events), 0) FROM import_count WHERE category = 'python_function') AS frames,
    (SELECT coalesce(max(events), 0) FROM import_count WHERE category = 'cpu_op') AS operators
  FROM (
    SELECT fact
    FROM export_fact
    WHERE fact GLOB 'TRACE_*'
      AND value = '1'
    ORDER BY fact = 'TRACE_WITH_STACK' DESC, fact = 'TRACE_RECORD_SHAPES' DESC, fact
  )
),
sampling AS (
  SELECT count(*) AS samples, work.end_ns - work.start_ns AS span_ns
  FROM op_total AS work
  CROSS JOIN cpu_sample
  WHERE cpu_sample.at_ns BETWEEN work.start_ns AND work.end_ns
)
SELECT
  300 AS priority,
  'distorted' AS severity,
  'profiler overhead' AS problem,
  printf(
    'Profiling blocked threads for %.1f ms in the %.1f ms from the first to the last GPU operation.',
    total_ns / 1e6,
    window_ns / 1e6
  ) AS detail,
  'record less: --delay, --duration or --capture-range, and fewer traces in --trace' AS remedy
FROM overhead
WHERE total_ns > 0.02 * window_ns
UNION ALL
SELECT
  310,
  iif(is_waiting AND (frames > 2 * op_count OR NOT has_stacks), 'distorted', 'note'),
  iif(has_stacks, 'recorded call stacks', 'recorded shapes'),
  printf(
    'Recorded with %s%s: host times are longer than without%s.',
    list,
    CASE
      WHEN frames > 0 THEN printf(' (%d Python calls, %.1f for each GPU operation)', frames, 1.0 * frames / op_count)
      WHEN NOT has_stacks THEN
        printf(' (%d operators, %.1f for each GPU operation)', operators, 1.0 * operators / op_count)
      ELSE ''
    END,
    iif(
      is_waiting,
      ', and so are steps that wait for the host',
      '. The GPU hardly waits for the host now; after a fix it may'
    )
  ),
  iif(has_stacks, 'with_stack=False, record_shapes=False and profile_memory=False', 'record_shapes=False')
    || ', for times'
FROM stacks
CROSS JOIN op_total
CROSS JOIN waiting_gpu
WHERE op_count > 0
  AND (has_stacks OR has_shapes AND is_waiting AND operators > 3 * op_count)
UNION ALL
SELECT
  310,
  'note',
  'CPU sampling',
  printf(
    '%d CPU samples in %.1f ms: sampling interrupts the threads, so host times are a little longer.',
    samples,
    span_ns / 1e6
  ),
  'nsys profile --sample=none, if host times must be exact'
FROM sampling
WHERE samples > 0
