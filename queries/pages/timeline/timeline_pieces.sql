/*---
name: timeline_pieces
version: 1
title: The timeline, piece by piece
summary: Busy time of each lane of the timeline in each piece of time, by category.
why: To draw a whole capture, however many events it has.
kind: sum
tags: [api, cuda, gpu, nvtx, osrt]
internal: true
reads: [timeline_event, timeline_lane]
requires: [timeline_event]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, over the time of the scope or of all events."}
  - {name: lanes, type: int, default: 160, min: 1, doc: "Most lanes to return: the busiest of each kind, then the second of each kind, and so on."}
columns:
  - {name: lane_id, type: id, label: "lane", priority: 0, doc: "Position of the lane from the top, from 1."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0. Pieces without events have no row."}
  - {name: category, type: text, priority: 0, doc: "What is drawn in one colour: compute, communication, copy, fill, graph, range, call, the state of a thread, or the cause of idle time."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the piece; the last one may be shorter."}
  - {name: busy_ns, type: duration, unit: ns, label: "busy", priority: 1, doc: "Time of the piece in which events of the category run, each nanosecond once."}
  - {name: slice_count, type: int, unit: count, label: "starts", priority: 1, doc: "Events of the category that start in the piece. Those that start before the first piece count in it."}
checks:
  - busy_ns BETWEEN 0 AND dur_ns AND slice_count >= 0
when_empty: "no event lies within the scope"
limits: See timeline_event for the threads that have lanes. Categories can overlap, so that their sum exceeds the piece.
see_also: [timeline_slices, timeline_lanes, gpu_strip]
---*/
WITH RECURSIVE
lane AS (
  SELECT *, max((to_ns - from_ns + :pieces - 1) / :pieces, 1) AS piece_ns
  FROM timeline_lane
  ORDER BY nth, kind
  LIMIT :lanes
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
),
strip AS (
  SELECT
    lane_id,
    category,
    piece,
    coalesce(busy_ns(start_ns, end_ns), 0) AS busy_ns,
    sum(slice_count) AS slice_count
  FROM clipped
  GROUP BY lane_id, piece, category
)
SELECT
  strip.lane_id,
  strip.piece AS piece_id,
  strip.category,
  lane.from_ns + strip.piece * lane.piece_ns AS start_ns,
  min(lane.piece_ns, lane.to_ns - lane.from_ns - strip.piece * lane.piece_ns) AS dur_ns,
  strip.busy_ns,
  strip.slice_count
FROM strip
JOIN lane
  ON lane.lane_id = strip.lane_id
ORDER BY strip.lane_id, piece_id, strip.category
