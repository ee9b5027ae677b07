/*---
name: stream_strip
version: 1
title: Each stream's time, piece by piece
summary: Compute, communication and copy time of each piece of the busiest streams.
why: To draw what each stream did over time, and to see what ran side by side.
kind: sum
tags: [cuda, gpu]
internal: true
reads: [gpu_busy, gpu_window]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, from the first to the last operation of any GPU."}
  - {name: streams, type: int, default: 12, min: 1, doc: "Most streams to return: the busiest one of each GPU, then the second of each, and so on."}
columns:
  - {name: stream_rank, type: int, label: "#", priority: 3, doc: "Position of the stream by GPU, then by busy time, from 1."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: stream_id, type: id, label: "stream", priority: 0, doc: "CUDA stream ID, unique within its context."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0. Pieces without work have no row."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the piece."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which the stream ran a compute kernel."}
  - {name: communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which it ran a communication kernel."}
  - {name: memory_ns, type: duration, unit: ns, label: "copies", priority: 1, doc: "Time in which it ran a copy or fill."}
  - {name: stream_compute_ns, type: duration, unit: ns, label: "compute of the stream", priority: 3, doc: "compute_ns of the whole stream."}
  - {name: stream_communication_ns, type: duration, unit: ns, label: "comm. of the stream", priority: 3, doc: "communication_ns of the whole stream."}
  - {name: stream_memory_ns, type: duration, unit: ns, label: "copies of the stream", priority: 3, doc: "memory_ns of the whole stream."}
  - {name: stream_count, type: int, unit: count, label: "streams", priority: 3, doc: "Streams with work, also those without rows here."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context."}
checks:
  - compute_ns BETWEEN 0 AND dur_ns AND communication_ns BETWEEN 0 AND dur_ns AND memory_ns BETWEEN 0 AND dur_ns
  - compute_ns + communication_ns + memory_ns > 0
limits: >-
  A CUDA graph traced as a whole counts as compute. The last piece ends with the last operation, so it can be longer by
  less than `pieces` ns. Nothing is exposed here: what runs on other streams meanwhile does not matter.
see_also: [gpu_strip, stream_concurrency]
---*/
WITH RECURSIVE
whole AS MATERIALIZED (
  SELECT from_ns, to_ns, (to_ns - from_ns) / :pieces AS piece_ns
  FROM (SELECT min(start_ns) AS from_ns, max(end_ns) AS to_ns FROM gpu_window)
  WHERE (to_ns - from_ns) / :pieces > 0
),
-- Intervals that begin and end in the same pieces count together. Only one can leave a piece. One number as key sorts
-- faster than three.
part AS MATERIALIZED (
  SELECT
    gpu_id,
    pid,
    context_id,
    stream_id,
    span / 3 / :pieces AS first_piece,
    span / 3 % :pieces AS last_piece,
    span % 3 AS activity,
    sum(end_ns - start_ns) AS dur_ns,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM (
    SELECT
      busy.gpu_id,
      busy.pid,
      busy.context_id,
      busy.stream_id,
      busy.start_ns,
      busy.end_ns,
      3 * (
        :pieces * min((busy.start_ns - whole.from_ns) / whole.piece_ns, :pieces - 1)
          + min((busy.end_ns - 1 - whole.from_ns) / whole.piece_ns, :pieces - 1)
      )
        + iif(busy.activity = 'compute', 0, iif(busy.activity = 'communication', 1, 2)) AS span
    FROM gpu_busy AS busy
    CROSS JOIN whole
    WHERE busy.level = 'stream'
      AND busy.activity IN ('compute', 'communication', 'memory')
      AND busy.start_ns < busy.end_ns
  )
  GROUP BY gpu_id, pid, context_id, stream_id, span
),
stream AS (
  SELECT
    *,
    count(*) OVER () AS stream_count,
    row_number() OVER (ORDER BY nth, busy_ns DESC, gpu_id, pid, context_id, stream_id) AS place
  FROM (
    SELECT
      gpu_id,
      pid,
      context_id,
      stream_id,
      sum(dur_ns) AS busy_ns,
      sum(iif(activity = 0, dur_ns, 0)) AS compute_ns,
      sum(iif(activity = 1, dur_ns, 0)) AS communication_ns,
      sum(iif(activity = 2, dur_ns, 0)) AS memory_ns,
      row_number() OVER (PARTITION BY gpu_id ORDER BY sum(dur_ns) DESC, pid, context_id, stream_id) AS nth
    FROM part
    GROUP BY gpu_id, pid, context_id, stream_id
  )
),
shown AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY gpu_id, nth) AS stream_rank
  FROM stream
  WHERE place <= :streams
),
kept AS MATERIALIZED (
  SELECT part.*, shown.stream_rank
  FROM part
  JOIN shown
    ON shown.gpu_id = part.gpu_id
    AND shown.pid IS NOT DISTINCT FROM part.pid
    AND shown.context_id IS NOT DISTINCT FROM part.context_id
    AND shown.stream_id IS NOT DISTINCT FROM part.stream_id
),
-- An interval of several pieces: its two ends, and the pieces between, which it fills.
inner_piece AS (
  SELECT stream_rank, activity, first_piece + 1 AS piece, last_piece
  FROM kept
  WHERE first_piece + 1 < last_piece
  UNION ALL
  SELECT stream_rank, activity, piece + 1, last_piece
  FROM inner_piece
  WHERE piece + 1 < last_piece
),
spread AS (
  SELECT stream_rank, activity, first_piece AS piece, dur_ns
  FROM kept
  WHERE first_piece = last_piece
  UNION ALL
  SELECT stream_rank, activity, first_piece, whole.from_ns + (first_piece + 1) * whole.piece_ns - start_ns
  FROM kept
  CROSS JOIN whole
  WHERE first_piece < last_piece
  UNION ALL
  SELECT stream_rank, activity, last_piece, end_ns - whole.from_ns - last_piece * whole.piece_ns
  FROM kept
  CROSS JOIN whole
  WHERE first_piece < last_piece
  UNION ALL
  SELECT stream_rank, activity, piece, whole.piece_ns
  FROM inner_piece
  CROSS JOIN whole
),
summed AS (
  SELECT
    stream_rank,
    piece,
    sum(iif(activity = 0, dur_ns, 0)) AS compute_ns,
    sum(iif(activity = 1, dur_ns, 0)) AS communication_ns,
    sum(iif(activity = 2, dur_ns, 0)) AS memory_ns
  FROM spread
  GROUP BY stream_rank, piece
)
SELECT
  summed.stream_rank,
  shown.gpu_id,
  shown.stream_id,
  summed.piece AS piece_id,
  whole.from_ns + summed.piece * whole.piece_ns AS start_ns,
  iif(
    summed.piece + 1 < :pieces,
    whole.piece_ns,
    whole.to_ns - whole.from_ns - summed.piece * whole.piece_ns
  ) AS dur_ns,
  summed.compute_ns,
  summed.communication_ns,
  summed.memory_ns,
  shown.compute_ns AS stream_compute_ns,
  shown.communication_ns AS stream_communication_ns,
  shown.memory_ns AS stream_memory_ns,
  shown.stream_count,
  shown.pid,
  shown.context_id
FROM summed
JOIN shown
  ON shown.stream_rank = summed.stream_rank
CROSS JOIN whole
ORDER BY summed.stream_rank, piece_id
