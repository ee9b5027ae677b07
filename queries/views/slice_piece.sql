/*---
name: slice_piece
summary: One row per lane of a timeline, piece of time and category, with how long it was busy.
native: true
by_statement: true
internal: true
present_if: [timeline_event]
reads: [timeline_event]
columns:
  - {name: from_ns, type: timestamp, unit: ns, doc: "Compare it with a time: the start of the first piece. Without this comparison there are no rows."}
  - {name: to_ns, type: timestamp, unit: ns, doc: "Compare it with a time: the end of the last piece."}
  - {name: pieces, type: int, unit: count, doc: "Compare it with a number: that of pieces of equal length, but for the last."}
  - {name: lane_number, type: id, doc: "The lane, as in slice_lane."}
  - {name: piece_id, type: id, doc: "Number of the piece, from 0. Pieces without events have no row."}
  - {name: category, type: text, doc: "As in timeline_event."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time of the piece in which events of the category run, each nanosecond once."}
  - {name: slice_count, type: int, unit: count, doc: "Events of the category that start in the piece. Those that start before the first piece count in it."}
limits: The rows come in order of lane, piece and category.
---*/
