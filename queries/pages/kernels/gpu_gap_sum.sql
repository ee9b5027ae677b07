/*---
name: gpu_gap_sum
version: 1
title: Idle time of each GPU, and its streams' gaps
summary: How long each GPU idled, all streams together, with the gaps of its streams.
why: To see whether gaps of streams left the GPU without work, or other streams filled them.
kind: sum
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [stream_gaps]
params:
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal of the stream with the fewest gaps, within its process."}
  - {name: window_ns, type: duration, unit: ns, label: "GPU window", priority: 1, doc: "Time that --time or --window selects, or the time from the first to the last operation of the GPU."}
  - {name: idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 1, doc: "Part of window_ns in which nothing ran on the GPU."}
  - {name: idle_pct, type: percent, unit: percent, label: "GPU idle % of window", priority: 1, doc: "idle_ns as a share of window_ns; 0 for an empty window."}
  - {name: no_kernel_ns, type: duration, unit: ns, label: "GPU without kernel", doc: "Part of window_ns in which no kernel ran: idle_ns plus the time with copies and fills only."}
  - {name: stream_count, type: int, unit: count, label: "streams", doc: "Streams of stream_gaps on the GPU."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap time of streams", doc: "Sum of the gaps of these streams. Gaps of several streams overlap."}
checks:
  - idle_ns <= no_kernel_ns AND no_kernel_ns <= window_ns
limits: >-
  See stream_gaps, whose rows it adds up.
see_also: [stream_gaps, gap_sum, gpu_time, gpu_idle_causes]
---*/
WITH
stream AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id ORDER BY rowid DESC) AS from_last
  FROM stream_gaps
)
SELECT
  gpu_id,
  max(device_id) FILTER (WHERE from_last = 1) AS device_id,
  max(gpu_window_ns) AS window_ns,
  max(gpu_idle_ns) AS idle_ns,
  coalesce(100.0 * max(gpu_idle_ns) / nullif(max(gpu_window_ns), 0), 0.0) AS idle_pct,
  max(gpu_no_kernel_ns) AS no_kernel_ns,
  count(*) AS stream_count,
  sum(gap_ns) AS gap_ns
FROM stream
GROUP BY gpu_id
ORDER BY gpu_id
