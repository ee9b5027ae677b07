/*---
name: gpu_idle_cause_sum
version: 1
title: Why the GPUs idled, in total
summary: Idle time of each GPU by cause, over all its gaps.
why: To see what most of the idle time waits for, even if it is spread over thousands of short gaps.
kind: sum
tags: [cuda, gpu]
reads: [idle_part]
params:
  - {name: at_least, type: duration, default: 0ns, min: 0, doc: "Shortest gap to count."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: cause, type: text, priority: 0, doc: "What the launching thread did in the meantime: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown. gpu_idle_causes explains each."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 1, doc: "Sum of this part of all gaps of the GPU."}
  - {name: time_pct, type: percent, unit: percent, label: "share of idle time", priority: 1, doc: "total_ns as a share of all gaps of the GPU."}
  - {name: gap_count, type: int, unit: count, label: "gaps mostly this", priority: 1, doc: "Number of gaps of which this is the largest part."}
  - {name: gap_ns, type: duration, unit: ns, label: "time of these gaps", doc: "Sum of their whole lengths, including their other parts."}
  - {name: max_ns, type: duration, unit: ns, label: "longest of these gaps", priority: 1, doc: "Whole length of the longest of them; null if there are none."}
checks:
  - total_ns > 0 AND time_pct BETWEEN 0 AND 100
  - (gap_count = 0) = (max_ns IS NULL) AND gap_ns >= coalesce(max_ns, 0)
when_empty: "no GPU had a gap of the length to count; -p at_least=0ns counts all gaps"
limits: >-
  The rows of a GPU add up to its gaps, in total_ns and in gap_ns. Without at_least, that is idle_ns of gpu_time. The
  parts are those of gpu_idle_causes, with the same limits: they describe only the thread that launched the operation
  after the gap, and only the name of a call tells whether it waits. With --nvtx, --process and similar options, a gap
  is a time without work in the scope, so other work may run in it.
see_also: [gpu_idle_causes, gpu_time, launch_latency, cuda_api_sync]
---*/
WITH
cause (place, cause) AS (
  VALUES
    (1, 'host sync'),
    (2, 'memory allocation'),
    (3, 'other API call'),
    (4, 'outside CUDA API'),
    (5, 'launch call'),
    (6, 'queued'),
    (7, 'unknown')
),
-- Most gaps have one part, which needs no comparison.
whole AS (
  SELECT
    idle_part.gpu_id,
    min(idle_part.device_id) AS device_id,
    cause.cause,
    sum(idle_part.dur_ns) AS total_ns,
    count(*) AS gap_count,
    max(idle_part.gap_ns) AS max_ns
  FROM cause
  CROSS JOIN idle_part
  WHERE idle_part.part = cause.cause
    AND idle_part.gap_ns >= :at_least
    AND idle_part.dur_ns = idle_part.gap_ns
  GROUP BY cause.cause, idle_part.gpu_id
),
-- One row per part of the other gaps.
part AS (
  SELECT
    idle_part.gpu_id,
    min(idle_part.device_id) AS device_id,
    idle_part.gap_start_ns,
    min(idle_part.gap_ns) AS gap_ns,
    cause.place,
    cause.cause,
    sum(idle_part.dur_ns) AS part_ns
  FROM idle_part
  JOIN cause
    ON cause.cause = idle_part.part
  WHERE idle_part.gap_ns >= :at_least
    AND idle_part.dur_ns < idle_part.gap_ns
  GROUP BY idle_part.gpu_id, idle_part.gap_start_ns, cause.place
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id, gap_start_ns ORDER BY part_ns DESC, place) = 1 AS is_largest
  FROM part
),
summed AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    cause,
    sum(total_ns) AS total_ns,
    sum(gap_count) AS gap_count,
    sum(gap_ns) AS gap_ns,
    max(max_ns) AS max_ns
  FROM (
    SELECT gpu_id, device_id, cause, total_ns, gap_count, total_ns AS gap_ns, max_ns
    FROM whole
    UNION ALL
    SELECT
      gpu_id,
      device_id,
      cause,
      part_ns,
      is_largest,
      iif(is_largest, gap_ns, 0),
      iif(is_largest, gap_ns, NULL)
    FROM ranked
  )
  GROUP BY gpu_id, cause
)
SELECT
  gpu_id,
  device_id,
  cause,
  total_ns,
  100.0 * total_ns / sum(total_ns) OVER (PARTITION BY gpu_id) AS time_pct,
  gap_count,
  gap_ns,
  max_ns
FROM summed
ORDER BY gpu_id, total_ns DESC, cause
