/*---
name: pinned_rate
version: 2
title: What pinned memory would gain
summary: How many times as fast copies of pageable memory would be, in one row.
why: To replay a program that copies from and to pinned memory.
kind: info
internal: true
tags: [gpu, memory]
reads: [gpu, link_peak, memcpy]
requires: []
params:
  - {name: least, type: bytes, default: 100000, min: 1, doc: "Smallest copy to count. Small copies take as long from pinned memory."}
columns:
  - {name: pageable_bytes_per_s, type: real, unit: bytes_per_s, label: "pageable", priority: 0, doc: "What large copies from and to pageable memory of the host reach; null without one."}
  - {name: pinned_bytes_per_s, type: real, unit: bytes_per_s, label: "pinned", priority: 0, doc: "The larger of what copies of this size reach with pinned memory, and four fifths of what the slot carries; of an unknown GPU, a slot of PCIe 3."}
  - {name: times, type: real, priority: 1, doc: "The second divided by the first; 1 if that is less, or without pageable copies. 1000 if every GPU shares memory with the CPU: mapped memory needs no copy."}
checks:
  - times >= 1
limits: Slots with fewer than 16 lanes, and copies that share a link, are slower.
see_also: [copy_rate, memcpy_bandwidth]
---*/
WITH
large AS (
  SELECT size_bytes, dur_ns, coalesce(src_kind = 0 OR dst_kind = 0, 0) AS is_pageable
  FROM memcpy
  WHERE copy_kind IN (1, 2)
    AND size_bytes >= :least
),
rate AS MATERIALIZED (
  SELECT
    1e9 * sum(iif(is_pageable, size_bytes, NULL)) / nullif(sum(iif(is_pageable, dur_ns, 0)), 0) AS pageable,
    max(
      coalesce(1e9 * sum(iif(is_pageable, NULL, size_bytes)) / nullif(sum(iif(is_pageable, 0, dur_ns)), 0), 0.0),
      0.8 * coalesce((SELECT min(host_bytes_per_s) FROM link_peak), 16e9)
    ) AS pinned
  FROM large
)
SELECT
  max(pageable) AS pageable_bytes_per_s,
  max(pinned) AS pinned_bytes_per_s,
  iif((SELECT min(is_integrated) FROM gpu), 1000.0, coalesce(max(1.0, max(pinned / pageable)), 1.0)) AS times
FROM rate
ORDER BY times
