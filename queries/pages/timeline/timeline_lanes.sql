/*---
name: timeline_lanes
version: 3
title: Lanes of the timeline
summary: Each lane of the timeline, with its pieces and slices as lists of numbers.
why: To hold hundreds of thousands of slices in a page of some megabytes.
kind: sum
tags: [cuda, gpu, nvtx]
internal: true
reads: []
asks: [timeline_names, timeline_pieces, timeline_slices]
across: true
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "As in timeline_slices."}
  - {name: slices, type: int, default: 400000, min: 1, doc: "As in timeline_slices."}
  - {name: lanes, type: int, default: 160, min: 1, doc: "As in timeline_slices."}
columns:
  - {name: lane_id, type: id, label: "lane", priority: 0, doc: "Position of the lane in its report from the top, from 1."}
  - {name: lane_kind, type: text, label: "kind of lane", priority: 0, doc: "As in timeline_slices."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU of the lane; null for lanes of threads."}
  - {name: pid, type: id, priority: 1, doc: "Operating system process ID; null for the steps and the idle time of a GPU."}
  - {name: tid, type: id, priority: 1, doc: "Operating system thread ID; null for lanes of GPUs."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context of a stream; null for other lanes."}
  - {name: stream_id, type: id, label: "stream", priority: 1, doc: "CUDA stream; null for other lanes."}
  - {name: stream_name, type: text, priority: 2, doc: "Name that the program gave the stream; null if it gave none."}
  - {name: depth, type: int, priority: 1, doc: "Depth of the ranges, from 0; null for other lanes."}
  - {name: slice_count, type: int, unit: count, label: "slices", priority: 1, doc: "All slices of the lane in the scope."}
  - {name: shown_count, type: int, unit: count, label: "shown", priority: 1, doc: "Slices that are in the lists."}
  - {name: busy_ns, type: duration, unit: ns, label: "sum", priority: 1, doc: "Sum of the lengths of all slices of the lane."}
  - {name: per_piece, type: int, unit: count, label: "slices per piece", priority: 3, doc: "Most slices in the lists of each piece; null if all are."}
  - {name: lane_count, type: int, unit: count, label: "lanes", priority: 3, doc: "All lanes, also those left out."}
  - {name: window_start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first piece, on the report's clock."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 3, doc: "Length of all pieces together."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 3, doc: "Length of each piece but the last, which is shorter."}
  - {name: piece_list, type: text, priority: 3, doc: "JSON list of four numbers per piece and category: piece, name_id of the category, busy time as a share of the piece in thousandths, and slices."}
  - {name: start_list, type: text, priority: 3, doc: "JSON list of the starts of the slices in ns: the first from window_start_ns, each other from the one before."}
  - {name: dur_list, type: text, priority: 3, doc: "JSON list of the durations of the slices in ns."}
  - {name: name_list, type: text, priority: 3, doc: "JSON list of the name_id of the slices; 0 stands for no name."}
  - {name: category_list, type: text, priority: 3, doc: "JSON list of the name_id of the categories of the slices."}
  - {name: event_list, type: text, priority: 3, doc: "JSON list of the event_id of the slices, each as the difference from the one before; empty for lanes without event_id."}
  - {name: correlation_list, type: text, priority: 3, doc: "JSON list of the correlation_id of the slices, each as the difference from the one before, with 0 for none; empty for lanes without."}
  - {name: size_list, type: text, priority: 3, doc: "JSON list of two numbers for each copy and fill: its position among the slices, and its size in bytes."}
  - {name: call_list, type: text, priority: 3, doc: "JSON list of six numbers per slice of a stream: from its start back to the start of the launch call in ns, duration of the call in ns, name_id of the call, its lane, its thread and the name_id of the range around it. A duration of -1 stands for no call, 0 for no name, lane or range; empty for other lanes."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
checks:
  - shown_count BETWEEN 0 AND slice_count
  - json_array_length(start_list) = shown_count AND json_array_length(dur_list) = shown_count
  - json_array_length(call_list) IN (0, 6 * shown_count)
when_empty: "no event is in the scope"
limits: "See timeline_slices, which has the slices as a table, and timeline_pieces."
see_also: [timeline_slices, timeline_names, timeline_clocks]
---*/
WITH
name AS MATERIALIZED (
  SELECT name_id, timeline_text
  FROM timeline_names
),
piece AS MATERIALIZED (
  SELECT
    row.side,
    row.lane_id,
    '[' || group_concat(
      row.piece_id || ',' || name.name_id || ',' || (1000 * row.busy_ns / max(row.dur_ns, 1)) || ',' || row.slice_count
    ) || ']' AS piece_list
  FROM (SELECT * FROM timeline_pieces ORDER BY side, lane_id, piece_id, category) AS row
  JOIN name
    ON name.timeline_text = row.category
  GROUP BY row.side, row.lane_id
),
slice AS MATERIALIZED (
  SELECT
    row.side,
    row.lane_id,
    row_number() OVER lane - 1 AS place,
    row.start_ns - lag(row.start_ns, 1, row.window_start_ns) OVER lane AS start_step,
    row.dur_ns,
    coalesce(name.name_id, 0) AS name_id,
    category.name_id AS category_id,
    row.event_id - lag(row.event_id, 1, 0) OVER lane AS event_step,
    coalesce(row.correlation_id, 0) - lag(coalesce(row.correlation_id, 0), 1, 0) OVER lane AS correlation_step,
    row.correlation_id,
    row.size_bytes,
    iif(
      row.lane_kind = 'stream',
      coalesce(row.start_ns - row.call_start_ns, 0) || ',' || coalesce(row.call_dur_ns, -1)
        || ',' || coalesce(call.name_id, 0) || ',' || coalesce(row.call_lane_id, 0)
        || ',' || coalesce(row.call_tid, 0) || ',' || coalesce(range.name_id, 0),
      NULL
    ) AS call
  FROM timeline_slices AS row
  JOIN name AS category
    ON category.timeline_text = row.category
  LEFT JOIN name
    ON name.timeline_text = row.slice_name
  LEFT JOIN name AS call
    ON call.timeline_text = row.call_name
  LEFT JOIN name AS range
    ON range.timeline_text = row.range_text
  WINDOW lane AS (PARTITION BY row.side, row.lane_id ORDER BY row.start_ns, row.dur_ns DESC, row.event_id, row.category)
  ORDER BY row.side, row.lane_id, place
),
packed AS (
  SELECT
    side,
    lane_id,
    count(*) AS shown_count,
    json_group_array(start_step) AS start_list,
    json_group_array(dur_ns) AS dur_list,
    json_group_array(name_id) AS name_list,
    json_group_array(category_id) AS category_list,
    iif(count(event_step) = count(*), json_group_array(event_step), '[]') AS event_list,
    iif(count(correlation_id) > 0, json_group_array(correlation_step), '[]') AS correlation_list,
    '[' || coalesce(group_concat(iif(size_bytes IS NULL, NULL, place || ',' || size_bytes)), '') || ']' AS size_list,
    '[' || coalesce(group_concat(call), '') || ']' AS call_list
  FROM slice
  GROUP BY side, lane_id
),
lane AS (
  SELECT
    side,
    lane_id,
    min(lane_kind) AS lane_kind,
    min(gpu_id) AS gpu_id,
    min(pid) AS pid,
    min(tid) AS tid,
    min(context_id) AS context_id,
    min(stream_id) AS stream_id,
    min(stream_name) AS stream_name,
    min(depth) AS depth,
    min(lane_slice_count) AS slice_count,
    min(lane_busy_ns) AS busy_ns,
    min(per_piece) AS per_piece,
    min(lane_count) AS lane_count,
    min(window_start_ns) AS window_start_ns,
    min(window_ns) AS window_ns,
    min(piece_ns) AS piece_ns
  FROM timeline_slices
  GROUP BY side, lane_id
)
SELECT
  lane.lane_id,
  lane.lane_kind,
  lane.gpu_id,
  lane.pid,
  lane.tid,
  lane.context_id,
  lane.stream_id,
  lane.stream_name,
  lane.depth,
  lane.slice_count,
  packed.shown_count,
  lane.busy_ns,
  lane.per_piece,
  lane.lane_count,
  lane.window_start_ns,
  lane.window_ns,
  lane.piece_ns,
  piece.piece_list,
  packed.start_list,
  packed.dur_list,
  packed.name_list,
  packed.category_list,
  packed.event_list,
  packed.correlation_list,
  packed.size_list,
  packed.call_list,
  lane.side
FROM lane
JOIN packed
  ON packed.side = lane.side
  AND packed.lane_id = lane.lane_id
JOIN piece
  ON piece.side = lane.side
  AND piece.lane_id = lane.lane_id
ORDER BY lane.side, lane.lane_id
