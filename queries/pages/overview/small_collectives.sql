/*---
name: small_collectives
version: 2
title: Small collectives
summary: Collectives of 64 KiB or less, or small buckets, that GPUs wait for.
why: Latency takes their time, so overlap does not help, and fewer of these do.
kind: info
internal: true
tags: [communication, gpu]
reads: [collective_op, gpu_busy, gpu_window, judged_window, string]
requires: [collective_op]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE 20 * exposed_communication_ns >= window_ns)
params:
  - {name: most, type: bytes, default: 64KiB, min: 1, doc: "Largest size to count."}
  - {name: most_bucket, type: bytes, default: 4MiB, min: 1, doc: "Largest size of a bucket of gradients to count, where no smaller ones have that share."}
  - {name: least_pct, type: real, default: 40, min: 0, max: 100, doc: "Smallest share of the exposed communication that all of these have, in percent."}
  - {name: least, type: int, default: 16, min: 1, doc: "Fewest of these in a step."}
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, AllGather or another."}
  - {name: step_ops, type: real, unit: count, label: "in a step", priority: 0, doc: "Mean number in a step of a GPU; without steps, in the whole window."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "The middle one of their sizes."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 1, doc: "Mean time of one."}
  - {name: exposed_ns, type: duration, unit: ns, label: "exposed", priority: 1, doc: "Mean time in a step in which they run without a compute kernel."}
  - {name: exposed_pct, type: percent, unit: percent, label: "% of exposed communication", priority: 1, doc: "The same, of all exposed communication."}
  - {name: is_batch_norm, type: bool, priority: 2, doc: "Whether the program has ranges of PyTorch's SyncBatchNorm, or its kernels."}
  - {name: is_bucket, type: bool, priority: 2, doc: "1 if these are larger than most and reach less than 40 GB/s of bus bandwidth, as small buckets of gradients or shards of weights: they run in part while compute kernels do, or have two operations."}
checks:
  - exposed_ns >= 0
limits: Sizes must be known. One that waits for a late rank counts with the wait.
see_also: [late_collectives, longest_collective]
---*/
WITH
step AS MATERIALIZED (
  SELECT sum(count) AS step_count
  FROM judged_window
),
computing AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'compute'
),
small AS MATERIALIZED (
  SELECT
    op.operation,
    op.size_bytes,
    op.size_bytes > :most AS is_larger,
    -- What passes over the links of each rank, about.
    op.size_bytes * iif(op.operation = 'AllReduce', 2, coalesce(op.rank_count, 1)) AS sent_bytes,
    op.end_ns - op.start_ns AS dur_ns,
    op.end_ns - op.start_ns
      - coalesce(
        overlap_ns((SELECT time_set(gpu_id, start_ns, end_ns) FROM computing), op.gpu_id, op.start_ns, op.end_ns),
        0
      ) AS exposed_ns
  FROM collective_op AS op
  JOIN gpu_window
    ON gpu_window.gpu_id = op.gpu_id
    AND op.start_ns >= gpu_window.start_ns
    AND op.start_ns < gpu_window.end_ns
  WHERE op.size_bytes <= :most
    OR op.size_bytes <= :most_bucket
    AND op.operation IN ('AllReduce', 'ReduceScatter', 'AllGather')
),
whole AS MATERIALIZED (
  SELECT sum(exposed_communication_ns) AS exposed_ns
  FROM gpu_window
),
-- Those of a few bytes come first. A bucket of gradients runs while the backward pass does, and weights in shards have
-- two operations. A tensor that is split over GPUs has one, whose result is needed at once.
fitting AS MATERIALIZED (
  SELECT small.is_larger
  FROM small
  CROSS JOIN step
  CROSS JOIN whole
  GROUP BY small.is_larger
  HAVING sum(small.exposed_ns) * 100.0 >= :least_pct * whole.exposed_ns
    AND count(*) >= :least * step.step_count
    AND (
      NOT small.is_larger
      OR sum(small.sent_bytes) < 40.0 * sum(small.dur_ns)
      AND (sum(small.exposed_ns) <= 0.9 * sum(small.dur_ns) OR max(small.operation) <> min(small.operation))
    )
  ORDER BY small.is_larger
  LIMIT 1
)
SELECT
  small.operation,
  1.0 * count(*) / step.step_count AS step_ops,
  CAST(median(small.size_bytes) AS INTEGER) AS size_bytes,
  CAST(avg(small.dur_ns) AS INTEGER) AS mean_ns,
  sum(small.exposed_ns) / step.step_count AS exposed_ns,
  100.0 * sum(small.exposed_ns) / whole.exposed_ns AS exposed_pct,
  EXISTS (
    SELECT 1
    FROM string
    WHERE text GLOB '*SyncBatchNorm*'
      OR text GLOB '*batch_norm_backward_elemt*'
  ) AS is_batch_norm,
  small.is_larger AS is_bucket
FROM small
JOIN fitting
  ON fitting.is_larger = small.is_larger
CROSS JOIN step
CROSS JOIN whole
GROUP BY small.operation
ORDER BY exposed_ns DESC, small.operation
