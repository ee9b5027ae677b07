/*---
name: gpu_strip
version: 1
title: Each GPU's time, piece by piece
summary: Compute, exposed communication, exposed copies and idle time of each piece.
why: To draw what each GPU did over time, and to find phases such as start-up or a stall.
kind: sum
tags: [cuda, gpu]
internal: true
reads: [gpu_window]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, from the first to the last operation of any GPU."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the piece; 0 if the GPUs worked for less than a nanosecond per piece."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = dur_ns
limits: >-
  See gpu_time for the parts. The last piece ends with the last operation, so it can be longer by less than `pieces` ns.
see_also: [gpu_time, gpu_time_by_range]
---*/
WITH RECURSIVE
whole AS (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM gpu_window
),
piece AS (
  SELECT 0 AS piece
  UNION ALL
  SELECT piece + 1 FROM piece WHERE piece + 1 < :pieces
),
bound AS MATERIALIZED (
  SELECT
    piece,
    start_ns + piece * ((end_ns - start_ns) / :pieces) AS from_ns,
    iif(piece + 1 = :pieces, end_ns, start_ns + (piece + 1) * ((end_ns - start_ns) / :pieces)) AS to_ns
  FROM piece
  CROSS JOIN whole
  WHERE start_ns IS NOT NULL
)
SELECT
  gpu.gpu_id,
  bound.piece AS piece_id,
  bound.from_ns AS start_ns,
  bound.to_ns - bound.from_ns AS dur_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns
FROM bound
CROSS JOIN gpu_window AS gpu
WHERE gpu.start_ns = bound.from_ns
  AND gpu.end_ns = bound.to_ns
ORDER BY gpu.gpu_id, piece_id
