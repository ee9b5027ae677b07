/*---
name: freeing_gaps
version: 1
title: Idle time of a garbage collector
summary: Time of the host in long gaps in which it also frees memory in many calls.
why: To see that a GPU waits for a garbage collector, which frees many arrays at once.
kind: info
tags: [cuda, gpu]
internal: true
reads: [compute_gap_part, cuda_call, string]
requires: [compute_gap_part]
rows_if: EXISTS (SELECT 1 FROM string WHERE text GLOB 'cuMemFree*' OR text GLOB 'cudaFree*' OR text GLOB 'hipFree*')
params:
  - {name: least_gap, type: duration, default: 2ms, min: 0, doc: "Shortest gap to count."}
  - {name: least_calls, type: int, default: 10, min: 1, doc: "Fewest calls that free memory in a gap."}
columns:
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 0, doc: "Gaps in which the launching thread frees memory in that many calls, and runs other code for longer; three or more."}
  - {name: host_ns, type: duration, unit: ns, label: "host code", priority: 0, doc: "Time outside the CUDA API in these gaps."}
  - {name: host_pct, type: percent, unit: percent, label: "% of host code in gaps", priority: 1, doc: "host_ns as a share of that time in all gaps of least_gap or more."}
  - {name: free_count, type: int, unit: count, label: "calls a gap", priority: 1, doc: "Calls that free memory in one of these gaps, on average."}
checks:
  - gap_count >= 3
limits: A program that frees its buffers in its own code has these gaps, too.
see_also: [allocation, host_work]
---*/
WITH
part AS MATERIALIZED (
  SELECT gpu_id, gap_start_ns, gap_ns, global_tid, part, dur_ns
  FROM compute_gap_part
  WHERE gap_ns >= :least_gap
    AND global_tid IS NOT NULL
    AND part IN ('outside CUDA API', 'memory allocation')
),
gap AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY gpu_id, gap_start_ns) AS gap_id,
    gap_start_ns,
    gap_start_ns + max(gap_ns) AS gap_end_ns,
    max(global_tid) AS global_tid,
    sum(iif(part = 'memory allocation', 0, dur_ns)) AS host_ns,
    sum(iif(part = 'memory allocation', dur_ns, 0)) AS memory_ns
  FROM part
  GROUP BY gpu_id, gap_start_ns
),
call AS MATERIALIZED (
  SELECT call_id, global_tid, start_ns, end_ns
  FROM cuda_call
  WHERE name_id IN (
      SELECT string_id
      FROM string
      WHERE text GLOB 'cuMemFree*' OR text GLOB 'cudaFree*' OR text GLOB 'hipFree*'
    )
    AND EXISTS (SELECT 1 FROM gap)
),
freed AS MATERIALIZED (
  SELECT span_id AS gap_id, count(*) AS calls
  FROM split_spans(
    (SELECT time_spans(global_tid, gap_id, gap_start_ns, gap_end_ns) FROM gap),
    (SELECT time_spans(global_tid, call_id, start_ns, end_ns) FROM call)
  )
  WHERE by_id IS NOT NULL
  GROUP BY span_id
  HAVING count(*) >= :least_calls
)
SELECT
  count(freed.gap_id) AS gap_count,
  sum(iif(freed.gap_id IS NULL, 0, gap.host_ns)) AS host_ns,
  100.0 * sum(iif(freed.gap_id IS NULL, 0, gap.host_ns)) / nullif(sum(gap.host_ns), 0) AS host_pct,
  CAST(round(avg(freed.calls)) AS INTEGER) AS free_count
FROM gap
LEFT JOIN freed
  ON freed.gap_id = gap.gap_id
  AND gap.host_ns > gap.memory_ns
HAVING count(freed.gap_id) >= 3
ORDER BY gap_count
