/*---
name: gpu_share
version: 1
title: What fills each GPU's time
summary: Time of each class of kernels and kind of copy, and idle time, per GPU.
why: To see in one line what limits a GPU, whether a class of kernels, copies, or a lack of work.
kind: sum
tags: [cuda, gpu, kernel, memory]
reads: [device, gpu, gpu_overlap, gpu_window, memcpy, memset, scope]
requires: [gpu_overlap]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 3, doc: "Marketing name of the GPU; null if unknown."}
  - {name: rank, type: int, priority: 3, doc: "Rank by busy_ns on the GPU; 1 is the largest."}
  - {name: share_kind, type: text, label: "kind", priority: 0, doc: "Kind of row: class (kernels of one class), memcpy, memset, graph (CUDA graphs traced as a whole) or idle."}
  - {name: share_name, type: text, label: "work", priority: 0, doc: "Class of the kernels from the class map, direction of the copies, or share_kind again. graph does not depend on the class map."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of operations; null for idle."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one of these operations ran; for idle, time in which nothing ran."}
  - {name: window_ns, type: duration, unit: ns, priority: 3, doc: "Time that --time or --window selects, or the time from the first to the last operation of the GPU."}
  - {name: window_pct, type: percent, unit: percent, label: "share of window", priority: 1, doc: "busy_ns as a share of window_ns."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 1, doc: "Bytes copied or written; null for other rows."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", priority: 1, doc: "Bytes moved in busy_ns, per second; null for other rows and if busy_ns is 0."}
checks:
  - busy_ns >= 0 AND busy_ns <= window_ns
  - (share_kind = 'idle') = (calls IS NULL)
when_empty: "no GPU operation was recorded"
limits: >-
  Shares overlap: a copy under a kernel counts for both, so the rows of a GPU can add up to more than 100 %; idle is
  exact. Without --time or --window, the time before the first and after the last operation of a GPU does not count.
  Waiting inside an operation counts as its time, such as a collective that waits for another rank, or a copy that waits
  for a page. size_bytes counts copies that cross an end of --time whole. Under --window, all operations count whole.
see_also: [gpu_time, gpu_elapsed, class_sum, memcpy_bandwidth]
---*/
WITH
-- Look up each name and its class once, by the name's ID.
name AS (
  SELECT op_kind, name_id, min(op_id) AS any_op_id
  FROM gpu_overlap
  GROUP BY op_kind, name_id
),
named_share AS MATERIALIZED (
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
),
-- An operation that crosses an end of --time is busy up to that end.
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
    -- For a copy that crosses an end of --time, only the bytes of the part inside.
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
