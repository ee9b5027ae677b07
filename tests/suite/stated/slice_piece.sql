SELECT lane.lane_id, piece.piece_id, piece.category, piece.busy_ns, piece.slice_count
FROM slice_piece AS piece
JOIN timeline_lane AS lane
  ON lane.lane_number = piece.lane_number
WHERE piece.from_ns = (SELECT min(from_ns) FROM timeline_lane)
  AND piece.to_ns = (SELECT max(to_ns) FROM timeline_lane)
  AND piece.pieces = 7
ORDER BY lane.lane_id, piece.piece_id, piece.category;

WITH RECURSIVE
lane AS (
  SELECT *, max((to_ns - from_ns + 7 - 1) / 7, 1) AS piece_ns
  FROM timeline_lane
),
placed AS MATERIALIZED (
  SELECT
    lane.lane_id,
    event.start_ns,
    event.end_ns,
    event.category,
    lane.from_ns,
    lane.to_ns,
    lane.piece_ns,
    max(event.start_ns - lane.from_ns, 0) / lane.piece_ns AS first_piece,
    max(min(event.end_ns, lane.to_ns) - 1 - lane.from_ns, event.start_ns - lane.from_ns, 0) / lane.piece_ns
      AS last_piece
  FROM timeline_event AS event
  JOIN lane
    ON lane.kind = event.kind
    AND lane.place IS NOT DISTINCT FROM event.place
    AND lane.device_id IS NOT DISTINCT FROM event.device_id
    AND lane.context_id IS NOT DISTINCT FROM event.context_id
    AND lane.track IS NOT DISTINCT FROM event.track
),
-- A slice that is longer than a piece has two ends, and fills the pieces between. Only the longest of those that start
-- in a piece is needed to fill.
filled AS (
  SELECT lane_id, category, from_ns, piece_ns, first_piece + 1 AS piece, max(last_piece) AS last_piece
  FROM placed
  WHERE first_piece + 1 < last_piece
  GROUP BY lane_id, category, first_piece
  UNION
  SELECT lane_id, category, from_ns, piece_ns, piece + 1, last_piece
  FROM filled
  WHERE piece + 1 < last_piece
),
-- Of a slice of several pieces, the first and the last one.
side (is_last) AS (
  VALUES (0), (1)
),
clipped AS (
  SELECT
    lane_id,
    category,
    iif(is_last, last_piece, first_piece) AS piece,
    iif(is_last, from_ns + last_piece * piece_ns, max(start_ns, from_ns)) AS start_ns,
    iif(is_last, min(end_ns, to_ns), min(end_ns, from_ns + (first_piece + 1) * piece_ns, to_ns)) AS end_ns,
    NOT is_last AS slice_count
  FROM placed
  CROSS JOIN side
  WHERE NOT is_last
    OR first_piece < last_piece
  UNION ALL
  SELECT lane_id, category, piece, from_ns + piece * piece_ns, from_ns + (piece + 1) * piece_ns, 0
  FROM filled
)
SELECT lane_id, piece, category, coalesce(busy_ns(start_ns, end_ns), 0), sum(slice_count)
FROM clipped
GROUP BY lane_id, piece, category
ORDER BY lane_id, piece, category;
