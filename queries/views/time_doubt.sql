/*---
name: time_doubt
summary: One row per reason why times of events cannot be true, or contradict others.
internal: true
present_if: [suspect_event, doubtful_op, gpu_op]
reads: [doubtful_op, gpu_op, report_source, suspect_event]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  suspect_event and doubtful_op have the rules, and a row for each of these events.
---*/
WITH
suspect AS (
  SELECT
    sum(events) AS events,
    group_concat(printf('%d %s (%s)', events, event_kind || iif(events = 1, '', 's'), reason), ', ') AS list
  FROM (
    SELECT
      CASE event_kind WHEN 'call' THEN 'CUDA call' WHEN 'range' THEN 'NVTX range' ELSE event_kind END AS event_kind,
      reason,
      count(*) AS events
    FROM suspect_event
    GROUP BY 1, 2
    ORDER BY 3 DESC, 1, 2
  )
),
-- Name and times are those of the longest.
doubtful AS (
  SELECT reason, count(*) AS ops, max(dur_ns) AS longest_ns, op_name, start_ns, other_start_ns
  FROM doubtful_op
  GROUP BY reason
),
-- AMD's recorder lets an operation begin 1 ns after the one before it ended. 5000 operations are enough to see it.
first_op AS MATERIALIZED (
  SELECT op_id, start_ns, end_ns, global_pid, device_id, stream_id
  FROM gpu_op
  LIMIT 5000
),
touching AS (
  SELECT count(*) AS gaps, count(*) FILTER (WHERE gap_ns BETWEEN 0 AND 1) AS touching
  FROM (
    SELECT
      start_ns - lag(end_ns) OVER (PARTITION BY global_pid, device_id, stream_id ORDER BY start_ns, op_id) AS gap_ns
    FROM first_op
  )
  WHERE gap_ns < 100000
)
SELECT
  150 AS priority,
  'partial' AS severity,
  'impossible times' AS problem,
  printf(
    '%s impossible times and %s left out of all figures: %s.',
    iif(events = 1, '1 event has', printf('%d events have', events)),
    iif(events = 1, 'is', 'are'),
    list
  ) AS detail,
  iif(
    is_trace,
    'a newer ' || recorder || ', and ' || wait_call || ' before the profiler stops',
    'a newer nsys and driver, and a program that ends by itself after cudaDeviceSynchronize()'
  ) AS remedy
FROM suspect
CROSS JOIN report_source
WHERE events > 0
UNION ALL
SELECT
  155,
  'partial',
  'kernels that overlap their stream',
  printf(
    '%s: `%s` lasts %.3f ms, but three later kernels of its stream began within %.3f ms. '
      || 'Figures with it are not reliable.',
    iif(ops = 1, '1 kernel has an end that is too late', printf('%d kernels have ends that are too late', ops)),
    op_name,
    longest_ns / 1e6,
    (other_start_ns - start_ns) / 1e6
  ),
  'a newer ' || recorder || ' and driver'
FROM doubtful
CROSS JOIN report_source
WHERE reason = 'overlaps its stream'
UNION ALL
SELECT
  160,
  'partial',
  'GPU work before its launch',
  printf(
    '%s before the call that launched %s: the clocks of CPU and GPU differ, or the calls are wrong. '
      || 'Idle time and its causes are not reliable.',
    iif(ops = 1, '1 GPU operation starts', printf('%d GPU operations start', ops)),
    iif(ops = 1, 'it', 'them')
  ),
  'a newer ' || recorder || ' and driver'
FROM doubtful
CROSS JOIN report_source
WHERE reason = 'starts before its launch'
UNION ALL
SELECT
  310,
  'partial',
  'kernels that touch',
  printf(
    '%d of %d gaps between operations of a stream are 0 or 1 ns, which no GPU can do: '
      || 'the recorder closed them. Busy time hides the gaps between launches, so idle time is too short.',
    touching,
    gaps
  ),
  'read elapsed times instead of idle time'
FROM touching
WHERE gaps >= 40 AND 2 * touching > gaps
