/*---
name: early_copies
version: 1
title: Copies before the first kernel
summary: Time of the copies before the first kernel of their process, in one row.
why: To say that a fix of copies belongs to the start-up, where no steps show it.
kind: info
internal: true
tags: [gpu, memory]
reads: [kernel, memcpy]
requires: [kernel, memcpy]
columns:
  - {name: copy_count, type: int, unit: count, label: "copies", priority: 0, doc: "Copies that end before the first kernel of their process starts."}
  - {name: total_ns, type: duration, unit: ns, label: "copy time", priority: 1, doc: "Sum of their times."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "copied", priority: 1, doc: "Sum of their sizes."}
  - {name: end_ns, type: timestamp, unit: ns, label: "end", priority: 1, doc: "End of the last of these copies, on the report's clock."}
checks:
  - copy_count > 0
limits: A program that copies once and computes once has all its uploads there.
see_also: [exposed_copies, exposed_pageable_copies]
---*/
WITH
-- GROUP BY would sort all kernels.
first AS MATERIALIZED (
  SELECT v0 AS pid, v2 AS start_ns
  FROM json_rows((SELECT extents(pid, start_ns, end_ns) FROM kernel))
)
SELECT
  count(*) AS copy_count,
  sum(memcpy.end_ns - memcpy.start_ns) AS total_ns,
  sum(memcpy.size_bytes) AS size_bytes,
  max(memcpy.end_ns) AS end_ns
FROM first
JOIN memcpy
  ON memcpy.pid = first.pid
  AND memcpy.end_ns <= first.start_ns
HAVING count(*) > 0
ORDER BY copy_count
