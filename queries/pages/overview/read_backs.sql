/*---
name: read_backs
version: 1
title: Values read back from the GPU
summary: How many single values the host reads from GPUs, in one row.
why: To see whether reads of single values, as for each norm of a gradient, keep the host from launching ahead.
kind: info
internal: true
tags: [gpu, memory]
reads: [idle_part, kernel, memcpy]
requires: [idle_part, kernel, memcpy]
params:
  - {name: scalar, type: bytes, default: 16, min: 0, doc: "Most bytes of a single value."}
columns:
  - {name: copy_count, type: int, unit: count, label: "read-backs", priority: 0, doc: "Copies of this size to the host."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "All kernels, to compare."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "The middle one of the sizes of the copies."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle after them", priority: 1, doc: "Idle time of whole GPUs in gaps right after these copies."}
checks:
  - copy_count > 0
limits: Whether the host waits for a copy is not looked at; one of pageable memory, as that of .item(), always waits.
see_also: [host_sync, small_copies]
---*/
WITH
read_back AS MATERIALIZED (
  SELECT memcpy_id, size_bytes
  FROM memcpy
  WHERE copy_kind = 2
    AND size_bytes <= :scalar
)
SELECT
  count(*) AS copy_count,
  (SELECT count(*) FROM kernel) AS kernel_count,
  CAST(median(size_bytes) AS INTEGER) AS size_bytes,
  coalesce(
    (
      SELECT sum(dur_ns)
      FROM idle_part
      WHERE before_kind = 'memcpy'
        AND before_id IN (SELECT memcpy_id FROM read_back)
    ),
    0
  ) AS idle_ns
FROM read_back
HAVING count(*) > 0
ORDER BY copy_count
