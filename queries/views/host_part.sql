/*---
name: host_part
summary: One row per interval of a GPU's gap, with what the launching thread did on its CPU.
internal: true
present_if: [gpu_op, graph_trace]
stored: true
reads: [all_cpu_sample, all_os_call, all_thread_state, idle_part]
columns:
  - {name: part_id, type: id, doc: "Interval of idle_part in which it lies; idle_part has the operations before and after the gap."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns. The intervals of a gap add up to it."}
  - {name: cause, type: text, doc: "What the thread did: CUDA call, OS call, running, runnable, blocked, off CPU, queued or unknown. gpu_idle_host_sum explains each."}
  - {name: part, type: text, doc: "What idle_part calls it. unknown: no launch was recorded for what ends the gap."}
  - {name: function_name, type: text, doc: "Function of the CUDA call or OS call; null for other causes."}
  - {name: os_call_id, type: id, doc: "call_id of the OS call, in os_call; null for other causes."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the whole gap."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap."}
  - {name: pid, type: id, doc: "Operating system process ID of the thread; null if unknown."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs; null if unknown."}
limits: >-
  The parts of idle_part, with those outside the CUDA API split further. An OS call counts before the state of the
  thread; of nested OS calls, the outermost counts. Without context switches, a thread counts as running for one sampling
  period around each of its CPU samples. The sampling period is the median time between two samples of a launching thread.
---*/
WITH
idle AS MATERIALIZED (
  SELECT part_id, global_tid, start_ns, end_ns
  FROM idle_part
  WHERE part = 'outside CUDA API'
    -- Most reports have nothing that could explain it.
    AND (
      EXISTS (SELECT 1 FROM all_os_call)
      OR EXISTS (SELECT 1 FROM all_thread_state)
      OR EXISTS (SELECT 1 FROM all_cpu_sample)
    )
),
call AS (
  SELECT global_tid, call_id, start_ns, end_ns
  FROM all_os_call
  WHERE event_class = 27
    AND global_tid IN (SELECT global_tid FROM idle)
),
state AS (
  SELECT
    global_tid,
    CASE state WHEN 'running' THEN 1 WHEN 'runnable' THEN 2 WHEN 'blocked' THEN 3 WHEN 'off CPU' THEN 4 END AS code,
    start_ns,
    end_ns
  FROM all_thread_state
  WHERE global_tid IN (SELECT global_tid FROM idle)
),
sample AS MATERIALIZED (
  SELECT global_tid, at_ns, lag(at_ns) OVER (PARTITION BY global_tid ORDER BY at_ns) AS before_ns
  FROM all_cpu_sample
  WHERE global_tid IN (SELECT global_tid FROM idle)
    AND (state = 'running' OR state IS NULL)
),
-- A thread runs half a period before and after its sample.
period AS MATERIALIZED (
  SELECT cast(median(at_ns - before_ns) / 2 AS INTEGER) AS half_ns
  FROM sample
),
sampled AS (
  SELECT
    global_tid,
    max(at_ns - half_ns, coalesce(before_ns + half_ns, at_ns - half_ns)) AS start_ns,
    at_ns + half_ns AS end_ns
  FROM sample
  CROSS JOIN period
),
-- Calls explain idle time best. States explain what is left, and samples the rest.
by_call AS MATERIALIZED (
  SELECT key AS global_tid, span_id AS part_id, by_id AS call_id, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, call_id, start_ns, end_ns) FROM call)
  )
),
by_state AS MATERIALIZED (
  SELECT key AS global_tid, span_id AS part_id, by_id AS code, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM by_call WHERE call_id IS NULL),
    (SELECT time_spans_apart(global_tid, code, start_ns, end_ns) FROM state)
  )
),
by_sample AS (
  SELECT span_id AS part_id, by_id IS NOT NULL AS is_sampled, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM by_state WHERE code IS NULL),
    (SELECT time_spans_apart(global_tid, 1, start_ns, end_ns) FROM sampled)
  )
),
segment AS (
  SELECT part_id, start_ns, end_ns, 'OS call' AS cause, call_id
  FROM by_call
  WHERE call_id IS NOT NULL
  UNION ALL
  SELECT
    part_id,
    start_ns,
    end_ns,
    CASE code WHEN 1 THEN 'running' WHEN 2 THEN 'runnable' WHEN 3 THEN 'blocked' ELSE 'off CPU' END,
    0
  FROM by_state
  WHERE code IS NOT NULL
  UNION ALL
  SELECT part_id, start_ns, end_ns, iif(is_sampled, 'running', 'unknown'), 0
  FROM by_sample
),
-- Segments of a part follow each other. Neighbours with one cause and call are one interval.
bounded AS (
  SELECT
    *,
    coalesce(cause <> lag(cause) OVER earlier OR call_id <> lag(call_id) OVER earlier, 1) AS is_first
  FROM segment
  WINDOW earlier AS (PARTITION BY part_id ORDER BY start_ns)
),
numbered AS (
  SELECT *, sum(is_first) OVER (PARTITION BY part_id ORDER BY start_ns ROWS UNBOUNDED PRECEDING) AS nth
  FROM bounded
),
split AS (
  SELECT
    part_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    min(cause) AS cause,
    nullif(min(call_id), 0) AS os_call_id
  FROM numbered
  GROUP BY part_id, nth
)
SELECT
  part.part_id,
  part.gpu_id,
  part.device_id,
  coalesce(split.start_ns, part.start_ns) AS start_ns,
  coalesce(split.end_ns, part.end_ns) AS end_ns,
  coalesce(split.end_ns - split.start_ns, part.dur_ns) AS dur_ns,
  CASE
    WHEN split.cause IS NOT NULL THEN split.cause
    WHEN part.part = 'queued' THEN 'queued'
    WHEN part.part IN ('outside CUDA API', 'unknown') THEN 'unknown'
    ELSE 'CUDA call'
  END AS cause,
  part.part,
  iif(
    split.os_call_id IS NULL,
    part.api_name,
    (SELECT function_name FROM all_os_call WHERE call_id = split.os_call_id)
  ) AS function_name,
  split.os_call_id,
  part.gap_start_ns,
  part.gap_ns,
  part.pid,
  part.tid,
  part.global_tid
FROM idle_part AS part
LEFT JOIN split
  ON split.part_id = part.part_id
