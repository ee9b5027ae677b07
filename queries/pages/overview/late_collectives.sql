/*---
name: late_collectives
version: 3
title: Collectives that wait for other ranks
summary: Collectives that take three times as long as others of their size, per GPU.
why: Of one rank, to tell waits for other ranks from transfers, which take as long each time.
kind: info
internal: true
tags: [communication, gpu]
reads: [collective_op, gpu_window]
requires: [collective_op]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE exposed_communication_ns > 0)
params:
  - {name: times, type: int, default: 3, min: 2, doc: "Least ratio of the time of a late one to the usual time."}
  - {name: large, type: bytes, default: 1MB, min: 0, doc: "Smallest size at which bandwidth binds, so that times of different sizes compare by the byte."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that ran them."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast or another."}
  - {name: late_count, type: int, unit: count, label: "late", priority: 0, doc: "Collectives that take times as long as usual for their size, or longer; three or more."}
  - {name: op_count, type: int, unit: count, label: "collectives", priority: 0, doc: "All whose usual time is known."}
  - {name: late_ns, type: duration, unit: ns, label: "late ones", priority: 1, doc: "Mean time of the late ones."}
  - {name: median_ns, type: duration, unit: ns, label: "usual", priority: 1, doc: "Mean, over the late ones, of the usual time: the first quartile of their size or, if that is shorter, of large ones by the byte."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 1, doc: "What the late ones take beyond their usual times."}
checks:
  - wait_ns > 0
  - late_count <= op_count
limits: >-
  Sizes must be known, and there must be eight collectives with one, or eight large ones of one operation, of which those
  below half of the median size have no usual time by the byte. Where three quarters are late, none counts. Links that
  are busy with other transfers make collectives longer, too, and so do groups of ranks that span more machines.
see_also: [longest_collective]
---*/
WITH
op AS MATERIALIZED (
  SELECT gpu_id, operation, size_bytes, end_ns - start_ns AS dur_ns
  FROM collective_op
  WHERE start_ns IS NOT NULL
    AND size_bytes > 0
),
-- Half may be late, as each second exchange of a layer of experts.
same_size AS MATERIALIZED (
  SELECT gpu_id, operation, size_bytes, percentile(dur_ns, 25) AS usual_ns
  FROM op
  GROUP BY gpu_id, operation, size_bytes
  HAVING count(*) >= 8
),
-- A program with one bucket of each size in a step may have a late bucket in each.
by_byte AS MATERIALIZED (
  SELECT
    gpu_id,
    operation,
    percentile(1.0 * dur_ns / size_bytes, 25) AS ns_per_byte,
    median(size_bytes) AS median_bytes
  FROM op
  WHERE size_bytes >= :large
  GROUP BY gpu_id, operation
  HAVING count(*) >= 8
),
usual AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      op.gpu_id,
      op.operation,
      op.dur_ns,
      min(
        coalesce(same_size.usual_ns, by_byte.ns_per_byte * op.size_bytes),
        coalesce(by_byte.ns_per_byte * op.size_bytes, same_size.usual_ns)
      ) AS usual_ns
    FROM op
    LEFT JOIN same_size
      ON same_size.gpu_id = op.gpu_id
      AND same_size.operation = op.operation
      AND same_size.size_bytes = op.size_bytes
    LEFT JOIN by_byte
      ON by_byte.gpu_id = op.gpu_id
      AND by_byte.operation = op.operation
      AND op.size_bytes >= max(:large, 0.5 * by_byte.median_bytes)
  )
  WHERE usual_ns IS NOT NULL
)
SELECT
  gpu_id,
  operation,
  sum(dur_ns >= :times * usual_ns) AS late_count,
  count(*) AS op_count,
  CAST(avg(iif(dur_ns >= :times * usual_ns, dur_ns, NULL)) AS INTEGER) AS late_ns,
  CAST(avg(iif(dur_ns >= :times * usual_ns, usual_ns, NULL)) AS INTEGER) AS median_ns,
  CAST(sum(iif(dur_ns >= :times * usual_ns, dur_ns - usual_ns, 0)) AS INTEGER) AS wait_ns
FROM usual
GROUP BY gpu_id, operation
HAVING late_count >= 3
ORDER BY wait_ns DESC, gpu_id, operation
