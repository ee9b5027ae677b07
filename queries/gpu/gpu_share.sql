/*---
name: gpu_share
version: 1
title: What fills each GPU's time
summary: How long each class of kernels, kind of copy and idleness fills a GPU's time.
why: To say in one line what limits a GPU - a class of kernels, copies, or the lack of work.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [device, gpu, graph_trace, kernel, memcpy, memset, scope, string]
requires: [kernel | memcpy | memset | graph_trace]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU in a process that used it, the lowest."}
  - {name: gpu_name, type: text, doc: "Marketing name of the GPU; null if the export does not say."}
  - {name: rank, type: int, doc: "Place by busy_ns on the GPU, from 1."}
  - {name: share_kind, type: text, doc: "class, memcpy, memset, graph or idle."}
  - {name: share_name, type: text, doc: "Class of kernels by the class map, direction of copies, or share_kind again."}
  - {name: calls, type: int, unit: count, doc: "Operations; null for idle."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of them ran; for idle, in which nothing did."}
  - {name: window_ns, type: duration, unit: ns, doc: "What --time names, else from the first start to the last end of an operation on the GPU."}
  - {name: window_pct, type: percent, unit: percent, doc: "busy_ns of window_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for the others."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bytes that moved in busy_ns, per second of it; null for the others, or if busy_ns is 0."}
checks:
  - busy_ns >= 0 AND busy_ns <= window_ns
  - (share_kind = 'idle') = (calls IS NULL)
limits: >-
  Shares overlap: a copy under a kernel counts for both, so the rows of a GPU can exceed 100 %; idle is exact. A window
  holds no time before the first or after the last operation of its GPU. What a share waits for inside is not told: a
  collective that waits for another rank fills its time, and so does a copy that waits for a page. size_bytes counts
  copies whole that reach over an end of --time, and under --window all operations count whole.
see_also: [gpu_time, gpu_elapsed, class_sum, memcpy_bandwidth]
---*/
WITH
named_kernel AS (
  SELECT name_id, op_class((SELECT text FROM string WHERE string_id = name_id)) AS class
  FROM (SELECT DISTINCT name_id FROM kernel)
  LIMIT -1
),
op AS (
  SELECT
    kernel.device_id,
    kernel.pid,
    'class' AS share_kind,
    named_kernel.class AS share_name,
    start_ns,
    end_ns,
    NULL AS size_bytes
  FROM kernel
  LEFT JOIN named_kernel
    ON named_kernel.name_id = kernel.name_id
  UNION ALL
  SELECT device_id, pid, 'memcpy' AS share_kind, direction AS share_name, start_ns, end_ns, size_bytes
  FROM memcpy
  UNION ALL
  SELECT device_id, pid, 'memset' AS share_kind, 'memset' AS share_name, start_ns, end_ns, size_bytes
  FROM memset
  UNION ALL
  SELECT device_id, pid, 'graph' AS share_kind, 'graph' AS share_name, start_ns, end_ns, NULL AS size_bytes
  FROM graph_trace
),
process_gpu AS (
  SELECT device.device_id, device.pid, min(device.gpu_id) AS gpu_id, min(gpu.gpu_name) AS gpu_name
  FROM device
  LEFT JOIN gpu
    ON gpu.gpu_id = device.gpu_id
  GROUP BY device.device_id, device.pid
  LIMIT -1
),
-- What reaches over an end of --time is busy up to that end.
placed AS (
  SELECT
    op.*,
    max(op.start_ns, coalesce(scope.start_ns, op.start_ns)) AS from_ns,
    min(op.end_ns, coalesce(scope.end_ns, op.end_ns)) AS to_ns,
    coalesce(process_gpu.gpu_id, op.device_id) AS gpu_id,
    process_gpu.gpu_name
  FROM op
  JOIN scope
  LEFT JOIN process_gpu
    ON process_gpu.device_id = op.device_id
    AND coalesce(process_gpu.pid, op.pid) = op.pid
),
whole AS (
  SELECT
    gpu_id,
    min(device_id) AS device_id,
    min(gpu_name) AS gpu_name,
    coalesce((SELECT end_ns FROM scope), max(to_ns))
      - coalesce((SELECT start_ns FROM scope), min(from_ns)) AS window_ns,
    busy_ns(from_ns, to_ns) AS busy_ns
  FROM placed
  GROUP BY gpu_id
  LIMIT -1
),
share AS (
  SELECT
    gpu_id,
    share_kind,
    share_name,
    count(*) AS calls,
    busy_ns(from_ns, to_ns) AS busy_ns,
    sum(size_bytes) AS size_bytes,
    -- Of a copy that reaches over an end of --time, the bytes of the part inside.
    sum(
      iif(to_ns - from_ns < end_ns - start_ns, 1.0 * size_bytes * (to_ns - from_ns) / (end_ns - start_ns), size_bytes)
    ) AS moved_bytes
  FROM placed
  GROUP BY gpu_id, share_kind, share_name
  UNION ALL
  SELECT gpu_id, 'idle', 'idle', NULL, window_ns - busy_ns, NULL, NULL
  FROM whole
)
SELECT
  share.gpu_id,
  whole.device_id,
  whole.gpu_name,
  row_number() OVER (PARTITION BY share.gpu_id ORDER BY share.busy_ns DESC, share_kind, share_name) AS rank,
  share_kind,
  share_name,
  calls,
  share.busy_ns,
  window_ns,
  100.0 * share.busy_ns / nullif(window_ns, 0) AS window_pct,
  size_bytes,
  1e9 * moved_bytes / nullif(share.busy_ns, 0) AS rate_bytes_per_s
FROM share
LEFT JOIN whole
  ON coalesce(whole.gpu_id, -1) = coalesce(share.gpu_id, -1)
ORDER BY share.gpu_id, rank
