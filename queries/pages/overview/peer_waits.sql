/*---
name: peer_waits
version: 1
title: Who waits for whom in sends and receives
summary: Each pair of GPUs of which one waits for the other in sends and receives.
why: To say how long a GPU waits, and how short the transfer is.
kind: info
internal: true
tags: [communication, gpu]
reads: []
asks: [gpu_parts, peer_wait]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that waits."}
  - {name: peer_gpu_id, type: id, label: "peer", priority: 0, doc: "GPU that it waits for; null if that is not in the report."}
  - {name: wait_ns, type: duration, unit: ns, label: "waits", priority: 1, doc: "Its waits for this peer, within the judged time."}
  - {name: wait_pct, type: percent, unit: percent, label: "waits, % of window", priority: 1, doc: "wait_ns as a share of the GPU's judged time."}
  - {name: transfer_ns, type: duration, unit: ns, label: "transfer", priority: 1, doc: "Median time of the transfers after these waits."}
checks:
  - wait_ns > 0
limits: See peer_wait.
---*/
SELECT
  wait.gpu_id,
  wait.peer_gpu_id,
  sum(wait.dur_ns) AS wait_ns,
  100.0 * sum(wait.dur_ns) / gpu_parts.window_ns AS wait_pct,
  CAST(median(wait.transfer_ns) AS INTEGER) AS transfer_ns
FROM peer_wait AS wait
JOIN gpu_parts
  ON gpu_parts.gpu_id = wait.gpu_id
WHERE wait.start_ns >= gpu_parts.start_ns
  AND wait.start_ns < gpu_parts.end_ns
GROUP BY wait.gpu_id, wait.peer_gpu_id
ORDER BY wait_ns DESC, wait.gpu_id, wait.peer_gpu_id
