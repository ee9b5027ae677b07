/*---
name: range_time
version: 1
title: Time of NVTX ranges, one by one
summary: One row per NVTX range of the given names, with its time on CPU and GPU.
why: To time steps or passes, and to see whether the GPU waited for the CPU in them.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_op, nvtx_projection, nvtx_range, scope]
requires: [nvtx_projection]
params:
  - {name: ranges, type: list, doc: "GLOB patterns for the range name, with or without its domain, or for its folded name; JSON array or comma-separated. Default: all ranges."}
columns:
  - {name: instance, type: int, priority: 0, doc: "Position by start among these ranges, from 0."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the range on the CPU."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Time from the start of the range to its end or to the end of its last GPU operation, whichever is later."}
  - {name: span_ns, type: duration, unit: ns, label: "GPU span", doc: "Time from the start of its first GPU operation to the end of its last; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of its operations ran, on any device; null without GPU work."}
  - {name: idle_ns, type: duration, unit: ns, label: "gaps in own work", priority: 1, doc: "span_ns - busy_ns: in these gaps no operation of the range ran, but other work may have run; null without GPU work."}
  - {name: unlaunched_ns, type: duration, unit: ns, priority: 1, doc: "Part of idle_ns in which the call that launches the next operation had not returned, so the GPU waited for the CPU; null without GPU work."}
  - {name: queued_ns, type: duration, unit: ns, doc: "Time from the end of the first launching call to the start of the first operation, which waited for the GPU; 0 if the operation started earlier; null without GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", doc: "Sum of the durations of its operations; 0 without GPU work."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", doc: "GPU operations launched inside the range."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: proj_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "Start of the first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, label: "GPU end", priority: 3, doc: "End of the last operation on the GPU; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - elapsed_ns >= cpu_ns
  - (op_count = 0) = (span_ns IS NULL)
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0 AND unlaunched_ns >= 0
when_empty: "no range that ended matches: range_names lists the names, and -p ranges=GLOB takes one"
limits: >-
  A range inside another range of these names is not counted. Ranges that overlap without nesting are; work inside both
  counts for the later one in unlaunched_ns. While these ranges idle, other work can run on the GPU. Work that other
  threads launch, such as PyTorch's backward pass, is not counted in ranges of the main thread. Give --attribute process
  to count it. Unless a range ends with a synchronisation, the GPU works on after its end, so elapsed_ns is longer than
  cpu_ns. If earlier work still runs then, the work of the next range waits for it; this wait is queued_ns, a part of
  elapsed_ns. Ranges that never ended are left out.
see_also: [range_time_sum, iterations, gpu_time_by_range, range_names]
---*/
WITH
wanted AS MATERIALIZED (
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
),
open AS MATERIALIZED (
  SELECT range_id
  FROM nvtx_range
  WHERE is_open
),
owned AS (
  SELECT range.*, iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
  LEFT JOIN open
    ON open.range_id = range.range_id
  LEFT JOIN open AS around
    ON around.range_id = range.parent_id
  -- If all ranges are wanted, only those outside others are outermost.
  WHERE open.range_id IS NULL
    AND (:ranges IS NOT NULL OR range.parent_id IS NULL OR around.range_id IS NOT NULL)
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
outermost AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY owner ORDER BY start_ns) - 1 AS nth
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
),
place AS MATERIALIZED (
  -- A call may end when its range ends.
  SELECT time_places(owner, start_ns, end_ns + 1) AS of_owner
  FROM outermost
),
-- A launch belongs to the range that started last, if it has not ended.
waiting AS (
  SELECT
    outermost.range_id,
    op.start_ns AS op_start_ns,
    op.call_end_ns,
    max(op.end_ns) OVER (
      PARTITION BY outermost.range_id
      ORDER BY op.start_ns, op.end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS free_ns
  FROM (
    SELECT
      start_ns,
      end_ns,
      call_start_ns,
      call_end_ns,
      iif((SELECT attribution FROM scope) = 'process', global_pid, global_tid) AS owner
    FROM nvtx_op
    WHERE call_id IS NOT NULL
  ) AS op
  JOIN outermost
    ON outermost.owner = op.owner
    AND outermost.nth = place_of((SELECT of_owner FROM place), op.owner, op.call_start_ns)
  WHERE op.call_end_ns <= outermost.end_ns
),
-- The GPU idles from free_ns to op_start_ns. Until call_end_ns, the next operation was not launched yet.
waited AS MATERIALIZED (
  SELECT
    range_id,
    sum(iif(op_start_ns > free_ns, max(min(op_start_ns, call_end_ns) - free_ns, 0), 0)) AS unlaunched_ns,
    max(min(op_start_ns) - min(call_end_ns), 0) AS queued_ns
  FROM waiting
  GROUP BY range_id
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
    ON waited.range_id = outermost.range_id
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
