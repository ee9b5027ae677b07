/*---
name: late_collectives
version: 1
title: Collectives that wait for other ranks
summary: Collectives that take three times as long as most with their size, per GPU.
why: Of one rank, to tell waits for other ranks from transfers, which take as long each time.
kind: info
internal: true
tags: [communication, gpu]
reads: [collective_op, gpu_window]
requires: [collective_op]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE exposed_communication_ns > 0)
params:
  - {name: times, type: int, default: 3, min: 2, doc: "Least ratio of the time of a late one to the median."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that ran them."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast or another."}
  - {name: late_count, type: int, unit: count, label: "late", priority: 0, doc: "Collectives that take times as long as the median of their size, or longer; three or more."}
  - {name: op_count, type: int, unit: count, label: "collectives", priority: 0, doc: "All with these sizes."}
  - {name: late_ns, type: duration, unit: ns, label: "late ones", priority: 1, doc: "Mean time of the late ones."}
  - {name: median_ns, type: duration, unit: ns, label: "usual", priority: 1, doc: "Mean, over the late ones, of the median of their size."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 1, doc: "What the late ones take beyond the medians of their sizes."}
checks:
  - wait_ns > 0
  - late_count <= op_count
limits: >-
  Sizes must be known, and there must be eight collectives with one. Where most are late, none counts. Links that are
  busy with other transfers make collectives longer, too.
see_also: [longest_collective]
---*/
WITH
op AS MATERIALIZED (
  SELECT gpu_id, operation, size_bytes, end_ns - start_ns AS dur_ns
  FROM collective_op
  WHERE start_ns IS NOT NULL
    AND size_bytes > 0
),
usual AS MATERIALIZED (
  SELECT gpu_id, operation, size_bytes, median(dur_ns) AS median_ns
  FROM op
  GROUP BY gpu_id, operation, size_bytes
  HAVING count(*) >= 8
)
SELECT
  op.gpu_id,
  op.operation,
  sum(op.dur_ns >= :times * usual.median_ns) AS late_count,
  count(*) AS op_count,
  CAST(avg(iif(op.dur_ns >= :times * usual.median_ns, op.dur_ns, NULL)) AS INTEGER) AS late_ns,
  CAST(avg(iif(op.dur_ns >= :times * usual.median_ns, usual.median_ns, NULL)) AS INTEGER) AS median_ns,
  CAST(sum(iif(op.dur_ns >= :times * usual.median_ns, op.dur_ns - usual.median_ns, 0)) AS INTEGER) AS wait_ns
FROM op
JOIN usual
  ON usual.gpu_id = op.gpu_id
  AND usual.operation = op.operation
  AND usual.size_bytes = op.size_bytes
GROUP BY op.gpu_id, op.operation
HAVING late_count >= 3
ORDER BY wait_ns DESC, op.gpu_id, op.operation
