/*---
name: range_time
version: 1
title: Time of NVTX ranges, one by one
summary: NVTX ranges of some names one by one, with their time on CPU and GPU.
why: To time steps or passes, and to see whether the GPU waited for the CPU in them.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_projection, nvtx_range, scope]
requires: [nvtx_projection]
params:
  - {name: ranges, type: list, doc: "GLOBs over the range's name, its text or its folded name, or a JSON array of them; by default every range."}
columns:
  - {name: instance, type: int, doc: "Place among these ranges by start, from 0."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Length of the range on the CPU."}
  - {name: elapsed_ns, type: duration, unit: ns, doc: "From its start to its end or that of its last GPU operation, whichever is later."}
  - {name: span_ns, type: duration, unit: ns, doc: "From its first GPU operation to its last; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of its operations, whatever the device; null without GPU work."}
  - {name: idle_ns, type: duration, unit: ns, doc: "span_ns less busy_ns: none of its operations ran; null without GPU work."}
  - {name: unlaunched_ns, type: duration, unit: ns, doc: "Part of idle_ns in which the call that launched its next operation had not returned: the GPU waited for the CPU. Null without GPU work."}
  - {name: queued_ns, type: duration, unit: ns, doc: "From the end of the first call that launched an operation to the first operation: it waited for the GPU; 0 if it began sooner, null without GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of its operations' lengths; 0 without any."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside it."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began on the CPU, on the report's clock."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "First of its operations began on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "Last of its operations ended on the GPU; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: range_id, type: id, doc: "Row of the raw table."}
  - {name: range_name, type: text, doc: "Name of the range, behind its domain and a colon outside the default domain; null if empty."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - elapsed_ns >= cpu_ns
  - (op_count = 0) = (span_ns IS NULL)
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0 AND unlaunched_ns >= 0
limits: >-
  A range that lies within another of these names is not counted; ranges that merely cross are, and what both hold then
  counts for the later one in unlaunched_ns. Other work may run on the GPU while these ranges idle. What other threads
  launch, as PyTorch does in the backward pass, is in no range of the main thread unless --attribute process says so.
  Unless a range ends with a synchronisation, the GPU works on after it: then elapsed_ns is longer than cpu_ns.
  Where earlier work still runs then, that of the next range waits for it: queued_ns is part of its elapsed_ns. Ranges
  that never ended are left out.
see_also: [range_time_sum, iterations, gpu_time_by_range, range_names]
---*/
WITH
wanted AS (
  SELECT name_id
  FROM nvtx_name
  WHERE :ranges IS NULL
    OR EXISTS (
      SELECT 1
      FROM json_each(:ranges)
      WHERE range_name GLOB value
        OR range_text GLOB value
        OR layer_name GLOB value
    )
  LIMIT -1
),
owned AS (
  SELECT range.*, iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
  WHERE range.range_id NOT IN (SELECT range_id FROM nvtx_range WHERE is_open)
),
reached AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY owner
      ORDER BY start_ns, end_ns DESC, range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM owned
),
outermost AS (
  SELECT *
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
  LIMIT -1
),
-- Ranges and launches in order of time: a launch belongs to the range that began last, if that has not ended.
event AS (
  SELECT owner, start_ns AS at_ns, 0 AS is_op, NULL AS op_start_ns, NULL AS op_end_ns, NULL AS call_end_ns
  FROM outermost
  UNION ALL
  SELECT
    iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid),
    call_start_ns,
    1,
    start_ns,
    end_ns,
    call_end_ns
  FROM nvtx_op
  WHERE call_id IS NOT NULL
),
launched AS (
  SELECT
    *,
    max(iif(is_op, NULL, at_ns)) OVER (
      PARTITION BY owner
      ORDER BY at_ns, is_op
      ROWS UNBOUNDED PRECEDING
    ) AS range_start_ns
  FROM event
),
waiting AS (
  SELECT
    launched.owner,
    launched.range_start_ns,
    launched.op_start_ns,
    launched.call_end_ns,
    max(launched.op_end_ns) OVER (
      PARTITION BY launched.owner, launched.range_start_ns
      ORDER BY launched.op_start_ns, launched.op_end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS free_ns
  FROM launched
  JOIN outermost
    ON outermost.owner = launched.owner
    AND outermost.start_ns = launched.range_start_ns
  WHERE launched.is_op
    AND launched.call_end_ns <= outermost.end_ns
),
-- Nothing ran from free_ns to op_start_ns; until call_end_ns there was nothing to run.
waited AS (
  SELECT
    owner,
    range_start_ns,
    sum(iif(op_start_ns > free_ns, max(min(op_start_ns, call_end_ns) - free_ns, 0), 0)) AS unlaunched_ns,
    max(min(op_start_ns) - min(call_end_ns), 0) AS queued_ns
  FROM waiting
  GROUP BY owner, range_start_ns
  LIMIT -1
),
instance AS (
  SELECT
    outermost.*,
    max(end_ns, coalesce(proj_end_ns, end_ns)) - start_ns AS elapsed_ns,
    proj_end_ns - proj_start_ns AS span_ns,
    iif(op_count > 0, coalesce(waited.unlaunched_ns, 0), NULL) AS unlaunched_ns,
    iif(op_count > 0, coalesce(waited.queued_ns, 0), NULL) AS queued_ns
  FROM outermost
  LEFT JOIN waited
    ON waited.owner = outermost.owner
    AND waited.range_start_ns = outermost.start_ns
)
SELECT
  row_number() OVER (ORDER BY start_ns, end_ns DESC, range_id) - 1 AS instance,
  dur_ns AS cpu_ns,
  elapsed_ns,
  span_ns,
  busy_ns,
  span_ns - busy_ns AS idle_ns,
  unlaunched_ns,
  queued_ns,
  gpu_ns,
  op_count,
  launch_count,
  start_ns,
  proj_start_ns,
  proj_end_ns,
  pid,
  tid,
  range_id,
  range_name,
  (SELECT attribution FROM scope) AS attribution
FROM instance
ORDER BY start_ns, end_ns DESC, range_id
