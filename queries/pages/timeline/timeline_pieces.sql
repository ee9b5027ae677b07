/*---
name: timeline_pieces
version: 1
title: The timeline, piece by piece
summary: Busy time of each lane of the timeline in each piece of time, by category.
why: To draw a whole capture, however many events it has.
kind: sum
tags: [api, cuda, gpu, nvtx, osrt]
internal: true
reads: [slice_piece, timeline_lane]
requires: [timeline_event]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, over the time of the scope or of all events."}
  - {name: lanes, type: int, default: 160, min: 1, doc: "Most lanes to return: the busiest of each kind, then the second of each kind, and so on."}
columns:
  - {name: lane_id, type: id, label: "lane", priority: 0, doc: "Position of the lane from the top, from 1."}
  - {name: piece_id, type: id, label: "piece", priority: 0, doc: "Number of the piece, from 0. Pieces without events have no row."}
  - {name: category, type: text, priority: 0, doc: "What is drawn in one colour: step, warm-up, compute, communication, copy, fill, graph, range, call, the state of a thread, or the cause of idle time."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the piece, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the piece; the last one may be shorter."}
  - {name: busy_ns, type: duration, unit: ns, label: "busy", priority: 1, doc: "Time of the piece in which events of the category run, each nanosecond once."}
  - {name: slice_count, type: int, unit: count, label: "starts", priority: 1, doc: "Events of the category that start in the piece. Those that start before the first piece count in it."}
checks:
  - busy_ns BETWEEN 0 AND dur_ns AND slice_count >= 0
when_empty: "no event is in the scope"
limits: See timeline_event for the threads that have lanes. Categories can overlap, so that their sum exceeds the piece.
see_also: [timeline_slices, timeline_lanes, gpu_strip]
---*/
WITH
lane AS MATERIALIZED (
  SELECT lane_id, lane_number, from_ns, to_ns, max((to_ns - from_ns + :pieces - 1) / :pieces, 1) AS piece_ns
  FROM timeline_lane
  ORDER BY nth, kind
  LIMIT :lanes
)
SELECT
  lane.lane_id,
  piece.piece_id,
  piece.category,
  lane.from_ns + piece.piece_id * lane.piece_ns AS start_ns,
  min(lane.piece_ns, lane.to_ns - lane.from_ns - piece.piece_id * lane.piece_ns) AS dur_ns,
  piece.busy_ns,
  piece.slice_count
FROM slice_piece AS piece
JOIN lane
  ON lane.lane_number = piece.lane_number
WHERE piece.from_ns = (SELECT min(from_ns) FROM lane)
  AND piece.to_ns = (SELECT max(to_ns) FROM lane)
  AND piece.pieces = :pieces
ORDER BY lane.lane_id, piece.piece_id, piece.category
