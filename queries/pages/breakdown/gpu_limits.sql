/*---
name: gpu_limits
version: 1
title: What fills each GPU's time
summary: The largest share of each GPU's time, and up to two other large ones.
why: To say in one sentence what limits a GPU.
kind: sum
tags: [cuda, gpu, kernel, memory]
internal: true
reads: []
asks: [gpu_share]
across: true
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number, as in gpu_share."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal, as in gpu_share."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 3, doc: "Marketing name of the GPU; null if unknown."}
  - {name: rank, type: int, priority: 3, doc: "Rank by busy_ns on the GPU; 1 is the largest."}
  - {name: share_kind, type: text, label: "kind", priority: 0, doc: "Kind of share, as in gpu_share."}
  - {name: share_name, type: text, label: "work", priority: 0, doc: "Class of the kernels, direction of the copies, or share_kind again."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one of these operations ran; for idle, time in which nothing ran."}
  - {name: window_ns, type: duration, unit: ns, label: "GPU window", priority: 3, doc: "Time that --time or --window selects, or the time from the first to the last operation of the GPU."}
  - {name: window_pct, type: percent, unit: percent, label: "share of window", priority: 1, doc: "busy_ns as a share of window_ns; 0 for an empty window."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for other rows."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", doc: "Bytes moved in busy_ns, per second; null for other rows and if busy_ns is 0."}
limits: >-
  Idle time is only named if it is the largest share. A GPU that idles most also has its largest work. See gpu_share,
  which has all shares.
see_also: [gpu_share, gpu_time]
---*/
WITH
share AS (
  SELECT
    *,
    rank > 1 AND share_kind <> 'idle' AND 5 * busy_ns >= window_ns AS is_large,
    first_value(share_kind) OVER (PARTITION BY side, gpu_id ORDER BY rank) AS largest_kind
  FROM gpu_share
),
counted AS (
  SELECT
    *,
    sum(is_large) OVER (PARTITION BY side, gpu_id ORDER BY rank) AS large_so_far,
    sum(is_large) OVER (PARTITION BY side, gpu_id) AS large_count
  FROM share
)
SELECT
  report,
  gpu_id,
  device_id,
  gpu_name,
  rank,
  share_kind,
  share_name,
  busy_ns,
  window_ns,
  coalesce(window_pct, 0.0) AS window_pct,
  size_bytes,
  rate_bytes_per_s
FROM counted
WHERE rank = 1
  OR (is_large AND large_so_far <= 2)
  OR (rank = 2 AND largest_kind = 'idle' AND large_count = 0)
ORDER BY side, gpu_id, rank
