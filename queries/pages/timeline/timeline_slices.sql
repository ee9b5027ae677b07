/*---
name: timeline_slices
version: 2
title: The timeline, slice by slice
summary: The longest slices of each lane of the timeline in each piece of time.
why: To draw single events of a capture that has too many to draw.
kind: trace
tags: [api, cuda, gpu, nvtx, osrt]
internal: true
reads: [all_cuda_call, kernel, longest_slice, memcpy, memset, nvtx_op, nvtx_projection, nvtx_stream, os_call, slice_piece, timeline_lane]
requires: [timeline_event]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, over the time of the scope or of all events."}
  - {name: slices, type: int, default: 400000, min: 1, doc: "Most slices to return, half for lanes of GPUs and half for lanes of threads. In each half, the N longest that start in a piece of a lane are returned, with the largest N that fits, and at least one."}
  - {name: lanes, type: int, default: 160, min: 1, doc: "Most lanes to return: the busiest of each kind, then the second of each kind, and so on."}
columns:
  - {name: lane_id, type: id, label: "lane", priority: 0, doc: "Position of the lane from the top, from 1."}
  - {name: lane_kind, type: text, label: "kind of lane", priority: 0, doc: "Steps, GPU idle, stream, NVTX on GPU, NVTX, CUDA API, OS calls or thread state."}
  - {name: piece_id, type: id, label: "piece", priority: 2, doc: "Piece that the slice starts in, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the slice, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the slice."}
  - {name: category, type: text, priority: 1, doc: "What is drawn in one colour: step, warm-up, tail, compute, communication, copy, fill, graph, range, call, the state of a thread, or the cause of idle time."}
  - {name: slice_name, type: text, label: "name", priority: 1, doc: "Name of the kernel, copy, step, range, function, cause or state; null if it has none."}
  - {name: event_id, type: id, label: "event", priority: 3, doc: "Row ID of the slice in its raw table; null for steps, idle time and states."}
  - {name: correlation_id, type: id, priority: 3, doc: "Correlation ID of a GPU operation or CUDA call; null for others."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 3, doc: "Bytes that a copy or fill moves; null for others."}
  - {name: call_start_ns, type: timestamp, unit: ns, label: "launch call", priority: 3, doc: "Start of the call that launched the GPU operation; null for others and without a call."}
  - {name: call_dur_ns, type: duration, unit: ns, label: "launch call lasts", priority: 3, doc: "Length of that call."}
  - {name: call_name, type: text, priority: 3, doc: "Function of that call."}
  - {name: call_tid, type: id, label: "launching thread", priority: 3, doc: "Operating system ID of the thread of that call."}
  - {name: call_lane_id, type: id, label: "lane of the launch", priority: 3, doc: "Lane of that call; null if the lane is left out."}
  - {name: range_text, type: text, label: "in range", priority: 3, doc: "Innermost NVTX range around that call; null without one."}
  - {name: gpu_id, type: id, label: "GPU", priority: 2, doc: "GPU of the lane; null for lanes of threads."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID of the lane; null for the steps and the idle time of a GPU."}
  - {name: tid, type: id, priority: 2, doc: "Operating system thread ID of the lane; null for lanes of GPUs."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context of the lane; null for other lanes than streams."}
  - {name: stream_id, type: id, label: "stream", priority: 2, doc: "CUDA stream of the lane; null for other lanes than streams."}
  - {name: stream_name, type: text, priority: 3, doc: "Name that the program gave this stream; null if it gave none."}
  - {name: depth, type: int, priority: 2, doc: "Depth of the ranges of the lane, from 0; null for other lanes than NVTX ranges."}
  - {name: lane_slice_count, type: int, unit: count, label: "slices of the lane", priority: 3, doc: "All slices of the lane in the scope."}
  - {name: lane_busy_ns, type: duration, unit: ns, label: "sum over the lane", priority: 3, doc: "Sum of the lengths of these slices."}
  - {name: lane_count, type: int, unit: count, label: "lanes", priority: 3, doc: "All lanes, also those left out."}
  - {name: per_piece, type: int, unit: count, label: "slices per piece", priority: 3, doc: "The N of the lane's half: most slices returned of each of its pieces; null if all are."}
  - {name: window_start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first piece: of --time, or of the first event."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 3, doc: "Length of all pieces together."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 3, doc: "Length of each piece but the last, which is shorter."}
checks:
  - dur_ns >= 0 AND (call_dur_ns IS NULL OR call_dur_ns >= 0)
  - start_ns < window_start_ns + piece_ns * (piece_id + 1)
when_empty: "no event is in the scope"
limits: Events of timeline_event, with its limits. Ranges without GPU work are not on the GPU.
see_also: [timeline_pieces, timeline_lanes, timeline_names, gpu_idle_causes]
---*/
WITH
lane AS MATERIALIZED (
  SELECT
    *,
    max((to_ns - from_ns + :pieces - 1) / :pieces, 1) AS piece_ns,
    (
      SELECT named.stream_name
      FROM nvtx_stream AS named
      WHERE timeline_lane.kind = 2
        AND named.stream_id = timeline_lane.track
        AND named.context_id = timeline_lane.context_id
        AND named.pid = timeline_lane.pid
    ) AS stream_name
  FROM timeline_lane
  ORDER BY nth, kind
  LIMIT :lanes
),
-- How many slices each half returns for each N: those of pieces with at most N slices, and N of every other piece.
cell AS (
  SELECT is_gpu, slice_count, count(*) AS cell_count
  FROM (
    SELECT lane.kind <= 2 AS is_gpu, sum(piece.slice_count) AS slice_count
    FROM slice_piece AS piece
    JOIN lane
      ON lane.lane_number = piece.lane_number
    WHERE piece.from_ns = (SELECT min(from_ns) FROM lane)
      AND piece.to_ns = (SELECT max(to_ns) FROM lane)
      AND piece.pieces = :pieces
    GROUP BY piece.lane_number, piece.piece_id
  )
  WHERE slice_count > 0
  GROUP BY is_gpu, slice_count
),
choice AS (
  SELECT
    is_gpu,
    slice_count AS least,
    lead(slice_count) OVER half AS above,
    max(slice_count) OVER (PARTITION BY is_gpu) AS most,
    sum(slice_count * cell_count) OVER half AS small_count,
    sum(cell_count) OVER (PARTITION BY is_gpu) - sum(cell_count) OVER half AS large_count
  FROM (SELECT * FROM cell UNION ALL VALUES (0, 0, 0), (1, 0, 0))
  WINDOW half AS (PARTITION BY is_gpu ORDER BY slice_count)
),
rule AS MATERIALIZED (
  SELECT
    is_gpu,
    max(
      1,
      max(min(coalesce(above - 1, least), coalesce((:slices / 2 - small_count) / nullif(large_count, 0), least)))
    ) AS per_piece,
    max(most) AS most
  FROM choice
  WHERE small_count + least * large_count <= :slices / 2
  GROUP BY is_gpu
),
kept AS MATERIALIZED (
  SELECT
    lane.lane_id,
    slice.source,
    slice.event_id,
    slice.start_ns,
    slice.end_ns,
    slice.category,
    slice.name,
    max(slice.start_ns - lane.from_ns, 0) / lane.piece_ns AS first_piece,
    iif(rule.per_piece < rule.most, rule.per_piece, NULL) AS per_piece
  FROM longest_slice AS slice
  JOIN lane
    ON lane.lane_number = slice.lane_number
  JOIN rule
    ON rule.is_gpu = (lane.kind <= 2)
  WHERE slice.from_ns = (SELECT min(from_ns) FROM lane)
    AND slice.to_ns = (SELECT max(to_ns) FROM lane)
    AND slice.pieces = :pieces
    AND slice.gpu_most = coalesce((SELECT per_piece FROM rule WHERE is_gpu), 0)
    AND slice.thread_most = coalesce((SELECT per_piece FROM rule WHERE NOT is_gpu), 0)
)
SELECT
  lane.lane_id,
  lane.lane_kind,
  kept.first_piece AS piece_id,
  kept.start_ns,
  kept.end_ns - kept.start_ns AS dur_ns,
  kept.category,
  CASE kept.source
    WHEN 'kernel' THEN (SELECT kernel_name FROM kernel WHERE kernel_id = kept.event_id)
    WHEN 'memcpy' THEN (SELECT '[CUDA memcpy ' || direction || ']' FROM memcpy WHERE memcpy_id = kept.event_id)
    WHEN 'memset' THEN '[CUDA memset]'
    WHEN 'graph' THEN 'CUDA graph'
    WHEN 'range' THEN (SELECT range_name FROM nvtx_projection WHERE range_id = kept.event_id)
    WHEN 'call' THEN (SELECT api_name FROM all_cuda_call WHERE call_id = kept.event_id)
    WHEN 'os' THEN (SELECT function_name FROM os_call WHERE call_id = kept.event_id)
    ELSE kept.name
  END AS slice_name,
  kept.event_id,
  CASE
    WHEN kept.source = 'call' THEN (SELECT correlation_id FROM all_cuda_call WHERE call_id = kept.event_id)
    ELSE op.correlation_id
  END AS correlation_id,
  CASE kept.source
    WHEN 'memcpy' THEN (SELECT size_bytes FROM memcpy WHERE memcpy_id = kept.event_id)
    WHEN 'memset' THEN (SELECT size_bytes FROM memset WHERE memset_id = kept.event_id)
  END AS size_bytes,
  op.call_start_ns,
  op.call_end_ns - op.call_start_ns AS call_dur_ns,
  (SELECT api_name FROM all_cuda_call WHERE all_cuda_call.call_id = op.call_id) AS call_name,
  op.tid AS call_tid,
  call_lane.lane_id AS call_lane_id,
  op.range_text,
  lane.gpu_id,
  lane.pid,
  lane.tid,
  lane.context_id,
  iif(lane.kind = 2, lane.track, NULL) AS stream_id,
  lane.stream_name,
  iif(lane.kind IN (3, 4), lane.track, NULL) AS depth,
  lane.slice_count AS lane_slice_count,
  lane.busy_ns AS lane_busy_ns,
  lane.lane_count,
  kept.per_piece,
  lane.from_ns AS window_start_ns,
  lane.to_ns - lane.from_ns AS window_ns,
  lane.piece_ns
FROM kept
JOIN lane
  ON lane.lane_id = kept.lane_id
LEFT JOIN nvtx_op AS op
  ON lane.kind = 2
  AND op.op_kind = kept.source
  AND op.op_id = kept.event_id
LEFT JOIN lane AS call_lane
  ON call_lane.kind = 5
  AND call_lane.place = op.global_tid
ORDER BY lane.lane_id, kept.start_ns, dur_ns DESC, kept.category, slice_name, kept.source, kept.event_id
