/*---
name: longest_slice
summary: One row per event that is among the longest of those that start in a piece of its lane.
native: true
by_statement: true
internal: true
present_if: [timeline_event]
reads: [timeline_event]
columns:
  - {name: from_ns, type: timestamp, unit: ns, doc: "Compare it with a time: the start of the first piece. Without this comparison there are no rows."}
  - {name: to_ns, type: timestamp, unit: ns, doc: "Compare it with a time: the end of the last piece."}
  - {name: pieces, type: int, unit: count, doc: "Compare it with a number: that of pieces of equal length, but for the last."}
  - {name: gpu_most, type: int, unit: count, doc: "Compare it with a number: the most events of each piece of a lane of a GPU."}
  - {name: thread_most, type: int, unit: count, doc: "Compare it with a number: the most events of each piece of a lane of a thread."}
  - {name: lane_number, type: id, doc: "The lane, as in slice_lane."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the event, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the event."}
  - {name: source, type: text, doc: "As in timeline_event."}
  - {name: event_id, type: id, doc: "As in timeline_event."}
  - {name: category, type: text, doc: "As in timeline_event."}
  - {name: name, type: text, doc: "As in timeline_event; null for events with a source."}
limits: Of events of equal length, the earlier comes first; then that with the smaller source, row, category and name.
---*/
