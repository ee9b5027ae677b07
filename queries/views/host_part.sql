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
-- SQLite also expands a step again wherever it is read, so each is read as few times as possible.
WITH
feeding AS MATERIALIZED (
  SELECT global_tid, gpu_id, time_set(start_ns, end_ns) AS times
  FROM idle_part
  WHERE part = 'outside CUDA API'
  GROUP BY global_tid, gpu_id
),
-- What is left of each call after the earlier ones of its thread: no two overlap.
call AS (
  SELECT
    call_id,
    global_tid,
    max(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns,
    end_ns
  FROM all_os_call
  WHERE event_class = 27
    AND global_tid IN (SELECT global_tid FROM feeding)
  WINDOW earlier AS (
    PARTITION BY global_tid
    ORDER BY start_ns, end_ns DESC, call_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
sample AS (
  SELECT global_tid, at_ns, lag(at_ns) OVER (PARTITION BY global_tid ORDER BY at_ns) AS before_ns
  FROM all_cpu_sample
  WHERE global_tid IN (SELECT global_tid FROM feeding)
    AND (state = 'running' OR state IS NULL)
),
period AS MATERIALIZED (
  SELECT cast(median(at_ns - before_ns) / 2 AS INTEGER) AS half_ns
  FROM sample
),
-- The intervals of a thread that have the same source never overlap, so a sum of their codes is a code.
busy AS MATERIALIZED (
  SELECT global_tid, start_ns, end_ns, call_id, 0 AS code, 0 AS is_sampled
  FROM call
  UNION ALL
  SELECT
    global_tid,
    start_ns,
    end_ns,
    0,
    CASE state WHEN 'running' THEN 1 WHEN 'runnable' THEN 2 WHEN 'blocked' THEN 3 WHEN 'off CPU' THEN 4 ELSE 0 END,
    0
  FROM all_thread_state
  WHERE global_tid IN (SELECT global_tid FROM feeding)
  UNION ALL
  SELECT
    sample.global_tid,
    max(sample.at_ns - period.half_ns, coalesce(sample.before_ns + period.half_ns, sample.at_ns - period.half_ns)),
    sample.at_ns + period.half_ns,
    0,
    0,
    1
  FROM sample
  CROSS JOIN period
),
known AS MATERIALIZED (
  SELECT global_tid, time_set(start_ns, end_ns) AS times
  FROM busy
  GROUP BY global_tid
),
edge (sign) AS (
  VALUES (1), (-1)
),
event AS (
  SELECT
    global_tid,
    gpu_id,
    iif(edge.sign = 1, start_ns, end_ns) AS at_ns,
    edge.sign * part_id AS part_id,
    0 AS call_id,
    0 AS code,
    0 AS is_sampled
  FROM idle_part
  CROSS JOIN edge
  WHERE part = 'outside CUDA API'
    AND overlap_ns((SELECT times FROM known WHERE known.global_tid = idle_part.global_tid), start_ns, end_ns) > 0
  UNION ALL
  SELECT
    feeding.global_tid,
    feeding.gpu_id,
    iif(edge.sign = 1, busy.start_ns, busy.end_ns),
    0,
    edge.sign * busy.call_id,
    edge.sign * busy.code,
    edge.sign * busy.is_sampled
  FROM busy
  JOIN feeding
    ON feeding.global_tid = busy.global_tid
  CROSS JOIN edge
  WHERE overlap_ns(feeding.times, busy.start_ns, busy.end_ns) > 0
),
-- At most one interval of each kind is open at a time, so that the sums of IDs are IDs.
swept AS (
  SELECT
    at_ns AS start_ns,
    lead(at_ns) OVER (PARTITION BY global_tid, gpu_id ORDER BY at_ns) AS end_ns,
    sum(part_id) OVER so_far AS part_id,
    sum(call_id) OVER so_far AS call_id,
    sum(code) OVER so_far AS code,
    sum(is_sampled) OVER so_far AS is_sampled
  FROM event
  WINDOW so_far AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
),
segment AS (
  SELECT
    part_id,
    start_ns,
    end_ns,
    CASE
      WHEN call_id <> 0 THEN 'OS call'
      WHEN code = 1 THEN 'running'
      WHEN code = 2 THEN 'runnable'
      WHEN code = 3 THEN 'blocked'
      WHEN code = 4 THEN 'off CPU'
      WHEN is_sampled THEN 'running'
      ELSE 'unknown'
    END AS cause,
    call_id
  FROM swept
  WHERE part_id <> 0
    AND end_ns > start_ns
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
