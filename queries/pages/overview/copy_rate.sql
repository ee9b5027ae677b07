/*---
name: copy_rate
version: 2
title: Rate of large copies
summary: What large copies from, to and between GPUs reach, most time first.
why: To tell a link or memory that is slow from too much to copy.
kind: sum
internal: true
tags: [gpu, memory]
reads: [memcpy]
requires: [memcpy]
params:
  - {name: least, type: bytes, default: 1000000, min: 1, doc: "Smallest copy to count."}
columns:
  - {name: direction, type: text, priority: 0, doc: "Direction of the copies."}
  - {name: src_device_id, type: id, label: "source CUDA device", priority: 2, doc: "CUDA device ordinal of the source of copies between GPUs; else null."}
  - {name: dst_device_id, type: id, label: "destination CUDA device", priority: 2, doc: "CUDA device ordinal of the destination of copies between GPUs; else null."}
  - {name: is_pageable, type: bool, label: "pageable", priority: 2, doc: "1 if the host's memory is pageable."}
  - {name: copy_count, type: int, unit: count, label: "copies", priority: 1, doc: "Copies of this size or more."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "Median of their sizes."}
  - {name: copied_bytes, type: bytes, unit: bytes, label: "copied", priority: 1, doc: "Sum of their sizes."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Sum of their times."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "rate", priority: 0, doc: "Their bytes divided by their time."}
checks:
  - copy_count > 0 AND total_ns > 0
limits: Copies that run at the same time share the link; each counts its own time.
see_also: [memcpy_bandwidth]
---*/
SELECT
  direction,
  iif(copy_kind = 10, src_device_id, NULL) AS src_device_id,
  iif(copy_kind = 10, dst_device_id, NULL) AS dst_device_id,
  coalesce(src_kind = 0 OR dst_kind = 0, 0) AS is_pageable,
  count(*) AS copy_count,
  median(size_bytes) AS size_bytes,
  sum(size_bytes) AS copied_bytes,
  sum(dur_ns) AS total_ns,
  1e9 * sum(size_bytes) / sum(dur_ns) AS rate_bytes_per_s
FROM memcpy
WHERE copy_kind IN (1, 2, 10)
  AND size_bytes >= :least
  AND dur_ns > 0
GROUP BY 1, 2, 3, 4
ORDER BY total_ns DESC, direction, 2, 3, 4
