/*---
name: held_copies
version: 1
title: Small copies between kernels
summary: Small copies around which GPUs idle, per direction.
why: To see whether reads of single values, or small uploads, keep the host from launching ahead.
kind: info
internal: true
tags: [gpu, memory]
reads: [idle_part, memcpy, op_total]
requires: [idle_part, kernel, memcpy]
params:
  - {name: scalar, type: bytes, default: 16, min: 0, doc: "Most bytes of a single value, which the host reads."}
  - {name: small, type: bytes, default: 64KiB, min: 0, doc: "Most bytes of a small upload."}
columns:
  - {name: direction, type: text, priority: 0, doc: "Device-to-Host: single values. Host-to-Device: small uploads."}
  - {name: copy_count, type: int, unit: count, label: "copies", priority: 0, doc: "Copies of this direction and size."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "All kernels, to compare."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "The middle one of their sizes."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Idle time of whole GPUs in gaps right after these copies; of uploads, also right before them."}
checks:
  - copy_count > 0
limits: Whether the host waits for a copy is not looked at; one from or to pageable memory, as that of .item(), mostly waits.
see_also: [host_sync, small_copies]
---*/
WITH
small AS MATERIALIZED (
  SELECT memcpy_id, iif(copy_kind = 2, 'Device-to-Host', 'Host-to-Device') AS direction, size_bytes
  FROM memcpy
  WHERE copy_kind = 2 AND size_bytes <= :scalar
    OR copy_kind = 1 AND size_bytes <= :small
),
part AS MATERIALIZED (
  SELECT
    iif(before_kind = 'memcpy', before_id, NULL) AS before_id,
    iif(after_kind = 'memcpy', after_id, NULL) AS after_id,
    dur_ns
  FROM idle_part
  WHERE before_kind = 'memcpy'
    OR after_kind = 'memcpy'
),
-- A gap between two uploads counts once.
idle AS (
  SELECT
    CASE
      WHEN before_id IN (SELECT memcpy_id FROM small WHERE direction = 'Device-to-Host') THEN 'Device-to-Host'
      WHEN before_id IN (SELECT memcpy_id FROM small)
        OR after_id IN (SELECT memcpy_id FROM small WHERE direction = 'Host-to-Device') THEN 'Host-to-Device'
    END AS direction,
    dur_ns
  FROM part
)
SELECT
  small.direction,
  count(*) AS copy_count,
  (SELECT kernel_count FROM op_total) AS kernel_count,
  CAST(median(small.size_bytes) AS INTEGER) AS size_bytes,
  coalesce((SELECT sum(dur_ns) FROM idle WHERE idle.direction = small.direction), 0) AS idle_ns
FROM small
GROUP BY small.direction
ORDER BY small.direction
