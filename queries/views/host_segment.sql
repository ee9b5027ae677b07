/*---
name: host_segment
summary: One row per interval in which a GPU idled and its launching thread was outside the CUDA API, with what it did.
internal: true
stored: true
present_if: [gpu_op, graph_trace]
reads: [all_cpu_sample, all_os_call, all_thread_state, idle_part]
rows_if: "EXISTS (SELECT 1 FROM all_os_call) OR EXISTS (SELECT 1 FROM all_thread_state) OR EXISTS (SELECT 1 FROM all_cpu_sample)"
columns:
  - {name: part_id, type: id, doc: "Interval of idle_part in which it lies."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval. The intervals of a part add up to it."}
  - {name: cause, type: text, doc: "OS call, running, runnable, blocked, off CPU or unknown. gpu_idle_host_sum explains each."}
  - {name: os_call_id, type: id, doc: "call_id of the OS call, in os_call; null for other causes."}
limits: >-
  No rows without OS calls, context switches and CPU samples. An OS call counts before the state of the thread; of nested OS
  calls, the outermost counts. Without context switches, a thread counts as running for one sampling period around each of
  its CPU samples. The sampling period is the median time between two samples of a launching thread.
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
)
SELECT
  part_id,
  min(start_ns) AS start_ns,
  max(end_ns) AS end_ns,
  min(cause) AS cause,
  nullif(min(call_id), 0) AS os_call_id
FROM numbered
GROUP BY part_id, nth
