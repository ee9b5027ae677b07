/*---
name: allocating_range
version: 2
title: Range that allocates
summary: The last range that spends half of its time or more in allocations.
why: A program that is measured once may measure its allocator.
kind: info
internal: true
tags: [cuda, memory, nvtx]
reads: [cuda_call, nvtx_op, nvtx_range, string]
requires: [cuda_call, nvtx_range]
rows_if: "EXISTS (SELECT 1 FROM string WHERE text GLOB 'cu*Malloc*' OR text GLOB 'cuMemAlloc*' OR text GLOB 'hipMalloc*') AND EXISTS (SELECT 1 FROM nvtx_range)"
params:
  - {name: most, type: int, default: 500, min: 1, doc: "Most ranges and calls to compare, the longest."}
columns:
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Name of the range, with the prefix DOMAIN: outside the default domain."}
  - {name: api_name, type: text, label: "call", priority: 0, doc: "The first allocating function in it by name."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 0, doc: "Such calls of its thread in it."}
  - {name: call_ns, type: duration, unit: ns, label: "time in calls", priority: 0, doc: "Time in these calls. A driver call inside a runtime call counts once."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Time of the operations that its thread launches in it; null without operations."}
  - {name: dur_ns, type: duration, unit: ns, label: "range time", priority: 0, doc: "Time of the range."}
limits: Operators of PyTorch are no ranges here. Short calls do not count.
---*/
WITH
function AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB 'cu*Malloc*'
    OR text GLOB 'cuMemAlloc*'
    OR text GLOB 'hipMalloc*'
),
-- Calls are not read if no function of the report allocates.
called AS MATERIALIZED (
  SELECT global_tid, start_ns, end_ns, api_name
  FROM (SELECT 1 FROM function LIMIT 1)
  CROSS JOIN cuda_call
  WHERE name_id IN (SELECT string_id FROM function)
  ORDER BY dur_ns DESC, call_id
  LIMIT :most
),
-- Those of which calls cover half. Without calls, no range is read.
range AS MATERIALIZED (
  SELECT range_id, range_name, global_tid, start_ns, end_ns, dur_ns
  FROM (SELECT 1 FROM called LIMIT 1)
  CROSS JOIN nvtx_range
  WHERE 2 * overlap_ns(
      (SELECT time_set(global_tid, start_ns, end_ns) FROM called),
      global_tid,
      start_ns,
      end_ns
    ) >= dur_ns
    AND NOT (range_name GLOB 'cpu_op:*' OR range_name GLOB 'aten::*')
  ORDER BY dur_ns DESC, range_id
  LIMIT :most
),
found AS MATERIALIZED (
  SELECT
    range.*,
    min(called.api_name) AS api_name,
    count(*) AS call_count,
    busy_ns(called.start_ns, called.end_ns) AS call_ns
  FROM range
  JOIN called
    ON called.global_tid = range.global_tid
    AND called.start_ns >= range.start_ns
    AND called.end_ns <= range.end_ns
  GROUP BY range.range_id
  HAVING 2 * busy_ns(called.start_ns, called.end_ns) >= range.dur_ns
  ORDER BY range.start_ns DESC, range.dur_ns, range.range_id
  LIMIT 1
)
SELECT
  range_name,
  api_name,
  call_count,
  call_ns,
  (
    SELECT sum(op.dur_ns)
    FROM nvtx_op AS op
    WHERE op.global_tid = found.global_tid
      AND op.call_start_ns >= found.start_ns
      AND op.call_end_ns <= found.end_ns
  ) AS gpu_ns,
  dur_ns
FROM found
