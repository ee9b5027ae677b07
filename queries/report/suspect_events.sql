/*---
name: suspect_events
version: 1
title: Events with suspect times
summary: Events whose times cannot be true, or contradict those of other events.
why: To see which events a figure leaves out, and which ones make it unreliable.
kind: info
tags: [capture, cuda, gpu, nvtx]
reads: [doubtful_op, suspect_event]
requires: [gpu_op | graph_trace | cuda_call | nvtx_range | doubtful_op]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: event_kind, type: text, label: "kind", priority: 0, doc: "Kind of event: kernel, memcpy, memset, graph, sync, call or range."}
  - {name: event_name, type: text, label: "name", priority: 0, doc: "Name of the kernel, copy, call or range; null for other events."}
  - {name: reason, type: text, priority: 1, doc: "What is wrong, as in the relations suspect_event and doubtful_op."}
  - {name: is_counted, type: bool, label: "in figures", priority: 1, doc: "Whether figures include the event. They do if only another event shows that something is wrong."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start as recorded."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 1, doc: "End as recorded; null if there is none."}
  - {name: other_start_ns, type: timestamp, unit: ns, label: "other start", priority: 2, doc: "The start that contradicts it: of its launching call, or of the third later kernel of its stream within it; null if the event alone is wrong."}
  - {name: device_id, type: id, label: "CUDA device", priority: 2, doc: "CUDA device ordinal within its process; null for a call or a range."}
  - {name: stream_id, type: id, label: "stream", priority: 2, doc: "CUDA stream ID, unique within its context; null for a call or a range."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: row_id, type: id, priority: 3, doc: "Row ID in the raw table of this event_kind."}
when_empty: "no event has times that are impossible or contradict each other"
limits: Reports with the name of an NVIDIA report include all of these events, as NVIDIA's does.
see_also: [capture_trust]
---*/
WITH
event AS (
  SELECT
    event_kind,
    event_name,
    reason,
    0 AS is_counted,
    start_ns,
    end_ns,
    NULL AS other_start_ns,
    device_id,
    stream_id,
    pid,
    row_id
  FROM suspect_event
  UNION ALL
  SELECT op_kind, op_name, reason, 1, start_ns, end_ns, other_start_ns, device_id, stream_id, pid, op_id
  FROM doubtful_op
)
SELECT
  event_kind,
  event_name,
  reason,
  is_counted,
  start_ns,
  end_ns,
  other_start_ns,
  device_id,
  stream_id,
  pid,
  row_id
FROM event
ORDER BY is_counted, reason, event_kind, row_id
LIMIT :limit
