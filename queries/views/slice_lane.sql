/*---
name: slice_lane
summary: One row per lane of a timeline, with all its events together.
native: true
by_statement: true
internal: true
present_if: [timeline_event]
reads: [timeline_event]
columns:
  - {name: lane_number, type: id, doc: "Number of the lane, from 0 in the order in which nsq found them; faster to group by than the five columns that follow."}
  - {name: kind, type: int, doc: "As in timeline_event."}
  - {name: place, type: id, doc: "As in timeline_event."}
  - {name: device_id, type: id, doc: "As in timeline_event."}
  - {name: context_id, type: id, doc: "As in timeline_event."}
  - {name: track, type: id, doc: "As in timeline_event."}
  - {name: slice_count, type: int, unit: count, doc: "Events of the lane."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "First start of an event, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Last end of an event."}
limits: Events without a start or an end do not count.
---*/
