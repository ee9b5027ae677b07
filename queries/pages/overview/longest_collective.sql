/*---
name: longest_collective
version: 1
title: Collective that waits
summary: The collective that took longest beyond the usual time of its operation.
why: One collective that takes a thousand times as long waits for another rank.
kind: info
internal: true
tags: [communication, gpu]
reads: [collective_op, gpu_window]
requires: [collective_op]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE communication_ns > 0)
params:
  - {name: times, type: int, default: 20, min: 2, doc: "Least ratio of its time to the median."}
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast or another."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that ran it."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Its time."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 0, doc: "Median time of the operation on this GPU."}
  - {name: op_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Such collectives on this GPU."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "Median of their sizes; null if unknown."}
limits: Operations with fewer than ten collectives on a GPU have no usual time.
---*/
WITH
op AS MATERIALIZED (
  SELECT gpu_id, operation, end_ns - start_ns AS dur_ns, size_bytes
  FROM collective_op
  WHERE start_ns IS NOT NULL
),
usual AS (
  SELECT
    gpu_id,
    operation,
    max(dur_ns) AS dur_ns,
    median(dur_ns) AS median_ns,
    count(*) AS op_count,
    median(size_bytes) AS size_bytes
  FROM op
  GROUP BY gpu_id, operation
  HAVING count(*) >= 10
)
SELECT
  operation,
  gpu_id,
  dur_ns,
  CAST(median_ns AS INTEGER) AS median_ns,
  op_count,
  CAST(size_bytes AS INTEGER) AS size_bytes
FROM usual
WHERE dur_ns >= :times * median_ns
ORDER BY dur_ns - median_ns DESC, gpu_id, operation
LIMIT 1
