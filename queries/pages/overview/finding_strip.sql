/*---
name: finding_strip
version: 1
title: The intervals of findings, piece by piece
summary: The part of each piece of time that is in intervals of a finding.
why: To mark on a picture of the GPUs where findings are.
kind: sum
internal: true
tags: [cuda, gpu]
reads: []
asks: [{kind: finding}, findings, gpu_strip]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, as in gpu_strip."}
  - {name: most, type: int, default: 3, min: 1, doc: "Most findings, the first ones whose fix gains time."}
columns:
  - {name: rank, type: int, label: "#", priority: 0, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0. Pieces without these intervals have no row."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the piece."}
  - {name: claimed_ns, type: duration, unit: ns, priority: 0, doc: "Time of the finding's intervals in the piece, at most dur_ns."}
checks:
  - claimed_ns > 0
  - claimed_ns <= dur_ns
limits: Intervals that overlap count each, up to the whole piece.
---*/
WITH
piece AS MATERIALIZED (
  SELECT gpu_id, piece_id, start_ns, dur_ns
  FROM gpu_strip
  WHERE dur_ns > 0
),
-- All pieces but the last have one length.
whole AS (
  SELECT min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns, max(piece_id) + 1 AS pieces
  FROM piece
),
shown AS (
  SELECT rank, finding
  FROM findings
  WHERE verdict = 'yes'
  ORDER BY rank
  LIMIT :most
),
claimed AS (
  SELECT shown.rank, shown.finding, time.value ->> 0 AS gpu_id, time.value ->> 1 AS piece_id, time.value ->> 2 AS sum_ns
  FROM shown
  CROSS JOIN json_each(
    (
      SELECT
        piece_times(
          finding.gpu_id,
          finding.start_ns,
          finding.start_ns + finding.dur_ns,
          whole.start_ns,
          whole.end_ns,
          whole.pieces
        )
      FROM whole
      CROSS JOIN finding
      WHERE finding.query = shown.finding
    )
  ) AS time
)
SELECT
  claimed.rank,
  claimed.finding,
  piece.gpu_id,
  piece.piece_id,
  piece.start_ns,
  piece.dur_ns,
  min(claimed.sum_ns, piece.dur_ns) AS claimed_ns
FROM claimed
JOIN piece
  ON piece.gpu_id = claimed.gpu_id
  AND piece.piece_id = claimed.piece_id
ORDER BY claimed.rank, piece.gpu_id, piece.piece_id
