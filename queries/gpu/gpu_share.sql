/*---
name: gpu_share
version: 1
title: What fills each GPU's time
summary: How long each class of kernels, kind of copy and idleness fills a GPU's time.
why: To say in one line what limits a GPU - a class of kernels, copies, or the lack of work.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [device, gpu, gpu_overlap, gpu_window, memcpy, memset, scope]
requires: [gpu_overlap]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU in a process that used it, the lowest."}
  - {name: gpu_name, type: text, doc: "Marketing name of the GPU; null if the export does not say."}
  - {name: rank, type: int, doc: "Place by busy_ns on the GPU, from 1."}
  - {name: share_kind, type: text, doc: "class, memcpy, memset, graph or idle."}
  - {name: share_name, type: text, doc: "Class of kernels by the class map, direction of copies, or share_kind again: graph is a CUDA graph traced as a whole, whatever the map."}
  - {name: calls, type: int, unit: count, doc: "Operations; null for idle."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of them ran; for idle, in which nothing did."}
  - {name: window_ns, type: duration, unit: ns, doc: "What --time or --window names, else from the first start to the last end of an operation on the GPU."}
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
-- Numbers stand for names here: each name is looked up, and its class, once.
name AS (
  SELECT op_kind, name_id, min(op_id) AS any_op_id
  FROM gpu_overlap
  GROUP BY op_kind, name_id
),
named_share AS (
  SELECT
    op_kind,
    name_id,
    iif(op_kind = 'kernel', 'class', op_kind) AS share_kind,
    CASE op_kind
      WHEN 'kernel' THEN op_class(
        (
          SELECT op_name
          FROM gpu_overlap
          WHERE gpu_overlap.op_kind = name.op_kind
            AND gpu_overlap.op_id = name.any_op_id
        )
      )
      WHEN 'memcpy' THEN (SELECT direction FROM memcpy WHERE memcpy_id = any_op_id)
      ELSE op_kind
    END AS share_name
  FROM name
  LIMIT -1
),
-- What reaches over an end of --time is busy up to that end.
placed AS (
  SELECT
    overlap.gpu_id,
    overlap.device_id,
    named_share.share_kind,
    named_share.share_name,
    overlap.dur_ns,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns,
    CASE overlap.op_kind
      WHEN 'memcpy' THEN (SELECT size_bytes FROM memcpy WHERE memcpy_id = overlap.op_id)
      WHEN 'memset' THEN (SELECT size_bytes FROM memset WHERE memset_id = overlap.op_id)
    END AS size_bytes
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  JOIN named_share
    ON named_share.op_kind = overlap.op_kind
    AND named_share.name_id = overlap.name_id
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
      iif(to_ns - from_ns < dur_ns, 1.0 * size_bytes * (to_ns - from_ns) / dur_ns, size_bytes)
    ) AS moved_bytes
  FROM placed
  GROUP BY gpu_id, share_kind, share_name
  UNION ALL
  SELECT gpu_id, 'idle', 'idle', NULL, idle_ns, NULL, NULL
  FROM gpu_window
)
SELECT
  share.gpu_id,
  gpu_window.device_id,
  (
    SELECT min(gpu_name)
    FROM gpu
    WHERE gpu.gpu_id = share.gpu_id
      AND gpu.gpu_id IN (SELECT device.gpu_id FROM device)
  ) AS gpu_name,
  row_number() OVER (PARTITION BY share.gpu_id ORDER BY share.busy_ns DESC, share_kind, share_name) AS rank,
  share_kind,
  share_name,
  calls,
  share.busy_ns,
  gpu_window.window_ns,
  100.0 * share.busy_ns / nullif(gpu_window.window_ns, 0) AS window_pct,
  size_bytes,
  1e9 * moved_bytes / nullif(share.busy_ns, 0) AS rate_bytes_per_s
FROM share
JOIN gpu_window
  ON gpu_window.gpu_id = share.gpu_id
ORDER BY share.gpu_id, rank
