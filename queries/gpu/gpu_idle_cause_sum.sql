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
  - {name: max_ns, type: duration, unit: ns, label: "longest of these gaps", priority: 1, doc: "Whole length of the longest of these gaps; null if there are none."}
checks:
  - total_ns > 0 AND time_pct BETWEEN 0 AND 100
  - (gap_count = 0) = (max_ns IS NULL) AND gap_ns >= coalesce(max_ns, 0)
when_empty: "no GPU had a gap of the length to count; -p at_least=0ns counts all gaps"
limits: >-
  The rows of a GPU add up to its gaps, in total_ns and in gap_ns. Without at_least, that is idle_ns of gpu_time. The
  parts are those of gpu_idle_causes, with the same limits: they describe only the thread that launched the operation
  after the gap, and only the name of a call shows whether it waits. With --nvtx, --process and similar options, a gap
  is a time without work in the scope, so other work may run in it.
see_also: [gpu_idle_causes, gpu_time, launch_latency, cuda_api_sync]
---*/
WITH
summed AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    part AS cause,
    sum(dur_ns) AS total_ns,
    sum(is_largest) AS gap_count,
    sum(iif(is_largest, gap_ns, 0)) AS gap_ns,
    max(iif(is_largest, gap_ns, NULL)) AS max_ns
  FROM idle_part
  WHERE gap_ns >= :at_least
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
