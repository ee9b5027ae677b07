/*---
name: launch_queue_map
version: 1
title: Launches in the queue over time
summary: GPU operations launched and not finished, on each GPU in each piece of the time.
why: To see when the host runs ahead of the GPU, when the queue is full, and when it is empty.
kind: sum
tags: [api, cuda, gpu, latency]
reads: [device, launch, scope]
requires: [launch]
params:
  - {name: pieces, type: int, default: 30, min: 1, max: 10000, doc: "Number of pieces of equal length, from the first launch to the end of the last operation, or of --time."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "length", priority: 2, doc: "Length of the piece. The last one can be longer by less than `pieces` ns."}
  - {name: mean_depth, type: real, unit: count, label: "mean depth", priority: 0, doc: "Mean number of operations that were launched and had not ended, weighted by time; null if the piece has no length."}
  - {name: end_depth, type: int, unit: count, label: "depth at end", priority: 1, doc: "Operations that were launched and had not ended, at the end of the piece."}
  - {name: launched, type: int, unit: count, priority: 1, doc: "Operations whose launching call began in the piece."}
  - {name: ended, type: int, unit: count, priority: 1, doc: "Operations that ended in the piece."}
checks:
  - mean_depth >= 0 AND end_depth >= 0
when_empty: "no launch was recorded with its operation"
limits: >-
  An operation counts from the begin of the call that launched it, so a call that waits for room in the queue counts, too.
  All operations of a graph count from its launch. Work from before the capture is not in the report. With --time, operations
  that run after its end do not count, nor do those that end before their call begins, which cannot be.
see_also: [launch_queue, launch_latency, queued_work]
---*/
WITH RECURSIVE
op AS MATERIALIZED (
  SELECT pid, device_id, call_start_ns AS start_ns, end_ns
  FROM launch
  WHERE call_id IS NOT NULL
    -- What cannot be is no operation of the queue.
    AND end_ns >= call_start_ns
),
whole AS MATERIALIZED (
  SELECT
    from_ns,
    to_ns,
    max((to_ns - from_ns) / :pieces, 1) AS length_ns
  FROM (
    SELECT
      max(min(op.start_ns), coalesce(max(scope.start_ns), min(op.start_ns))) AS from_ns,
      min(max(op.end_ns), coalesce(max(scope.end_ns), max(op.end_ns))) AS to_ns
    FROM op
    CROSS JOIN scope
  )
  WHERE to_ns >= from_ns
),
piece AS (
  SELECT 0 AS piece
  UNION ALL
  SELECT piece + 1 FROM piece WHERE piece + 1 < :pieces
),
bound AS MATERIALIZED (
  SELECT
    piece,
    min(from_ns + piece * length_ns, to_ns) AS from_ns,
    iif(piece + 1 = :pieces, to_ns, min(from_ns + (piece + 1) * length_ns, to_ns)) AS to_ns
  FROM whole
  CROSS JOIN piece
),
-- What begins or ends before the first piece is in piece -1.
counted AS MATERIALIZED (
  SELECT
    pid,
    device_id,
    iif(at_ns < from_ns, -1, min((at_ns - from_ns) / length_ns, :pieces - 1)) AS piece,
    sum(step = 1) AS launched,
    sum(step = -1) AS ended,
    sum(1.0 * step * (at_ns - from_ns)) AS sum_ns
  FROM whole
  CROSS JOIN (
    SELECT pid, device_id, start_ns AS at_ns, 1 AS step FROM op
    UNION ALL
    SELECT pid, device_id, end_ns, -1 FROM op
  )
  WHERE at_ns <= to_ns
  GROUP BY pid, device_id, 3
),
gpu AS MATERIALIZED (
  SELECT
    pid,
    device_id,
    coalesce(
      (SELECT max(device.gpu_id) FROM device WHERE device.device_id = used.device_id AND device.pid = used.pid),
      (SELECT max(device.gpu_id) FROM device WHERE device.device_id = used.device_id AND device.pid IS NULL),
      device_id
    ) AS gpu_id
  FROM (SELECT DISTINCT pid, device_id FROM counted) AS used
),
of_gpu AS MATERIALIZED (
  SELECT
    gpu.gpu_id,
    counted.piece,
    sum(counted.launched) AS launched,
    sum(counted.ended) AS ended,
    sum(counted.sum_ns) AS sum_ns
  FROM counted
  JOIN gpu
    ON gpu.pid IS NOT DISTINCT FROM counted.pid
    AND gpu.device_id = counted.device_id
  GROUP BY gpu.gpu_id, counted.piece
),
filled AS (
  SELECT
    each.gpu_id,
    bound.piece,
    bound.from_ns,
    bound.to_ns,
    min(bound.from_ns) OVER () AS first_ns,
    coalesce(of_gpu.launched, 0) AS launched,
    coalesce(of_gpu.ended, 0) AS ended,
    coalesce(of_gpu.sum_ns, 0) AS sum_ns,
    coalesce(before.launched - before.ended, 0) AS before_count
  FROM (SELECT DISTINCT gpu_id FROM of_gpu) AS each
  CROSS JOIN bound
  LEFT JOIN of_gpu
    ON of_gpu.gpu_id = each.gpu_id
    AND of_gpu.piece = bound.piece
  LEFT JOIN of_gpu AS before
    ON before.gpu_id = each.gpu_id
    AND before.piece = -1
),
deep AS (
  SELECT
    *,
    before_count + sum(launched - ended) OVER (PARTITION BY gpu_id ORDER BY piece) AS end_depth
  FROM filled
)
SELECT
  gpu_id,
  piece AS piece_id,
  from_ns AS start_ns,
  to_ns - from_ns AS dur_ns,
  -- What is launched in the piece is away before, and what ends in it is there until then.
  max(end_depth - (sum_ns - (launched - ended) * (from_ns - first_ns)) / nullif(to_ns - from_ns, 0), 0) AS mean_depth,
  end_depth,
  launched,
  ended
FROM deep
ORDER BY gpu_id, piece_id
