/*---
name: copy_rate
version: 1
title: Rate of copies between host and device
summary: What large copies of pinned memory reach, in the direction with the most time.
why: To tell a link that is slow from too much to copy.
kind: info
internal: true
tags: [gpu, memory]
reads: [memcpy]
requires: [memcpy]
params:
  - {name: least, type: bytes, default: 1000000, min: 1, doc: "Smallest copy to count."}
columns:
  - {name: direction, type: text, priority: 0, doc: "Direction of the copies."}
  - {name: copy_count, type: int, unit: count, label: "copies", priority: 1, doc: "Copies of this size or more."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "Median of their sizes."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "rate", priority: 0, doc: "Their bytes divided by their time."}
limits: Copies that run at the same time share the link; each counts its own time.
see_also: [memcpy_bandwidth]
---*/
SELECT
  direction,
  count(*) AS copy_count,
  median(size_bytes) AS size_bytes,
  1e9 * sum(size_bytes) / sum(dur_ns) AS rate_bytes_per_s
FROM memcpy
WHERE copy_kind IN (1, 2)
  AND coalesce(src_kind, 1) <> 0
  AND coalesce(dst_kind, 1) <> 0
  AND size_bytes >= :least
  AND dur_ns > 0
GROUP BY direction
ORDER BY sum(dur_ns) DESC, direction
LIMIT 1
