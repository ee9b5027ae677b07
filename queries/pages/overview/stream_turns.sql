/*---
name: stream_turns
version: 1
title: Streams that take turns
summary: Gaps between kernels of two streams in which the host waits, in one row.
why: To see that streams cannot overlap, because the host waits for each before it launches on the next.
kind: info
internal: true
tags: [cuda, gpu]
reads: [gpu_gap, gpu_stream, idle_part]
requires: [gpu_stream, idle_part]
rows_if: "EXISTS (SELECT 1 FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream) WHERE 20 * compute_ns >= all_ns AND compute_ns > 0 GROUP BY gpu_id HAVING count(*) > 1)"
columns:
  - {name: api_name, type: text, label: "call", priority: 0, doc: "Call with most of these waits."}
  - {name: wait_count, type: int, unit: count, label: "waits", priority: 0, doc: "Gaps between a kernel of one stream and one of another in which the launching thread waits for the GPU."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "All gaps between kernels of two streams."}
  - {name: stream_count, type: int, unit: count, label: "streams", priority: 1, doc: "Streams with a twentieth of a GPU's compute time or more, on the GPU with most."}
checks:
  - wait_count <= gap_count
limits: The second kernel may need the result of the first; an event then orders the streams without the host.
see_also: [stream_concurrency, host_sync]
---*/
WITH
gap AS MATERIALIZED (
  SELECT gpu_id, start_ns
  FROM gpu_gap
  WHERE level = 'gpu'
    AND before_kind = 'kernel'
    AND after_kind = 'kernel'
    AND NOT is_in_stream
),
-- A wait that is split by another call is one.
waited AS MATERIALIZED (
  SELECT idle.gpu_id, idle.gap_start_ns, min(idle.api_name) AS api_name
  FROM idle_part AS idle
  JOIN gap
    ON gap.gpu_id = idle.gpu_id
    AND gap.start_ns = idle.gap_start_ns
  WHERE idle.part = 'host sync'
  GROUP BY idle.gpu_id, idle.gap_start_ns
),
busy_stream AS (
  SELECT gpu_id, count(*) AS stream_count
  FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream)
  WHERE 20 * compute_ns >= all_ns
    AND compute_ns > 0
  GROUP BY gpu_id
)
SELECT
  api_name,
  (SELECT count(*) FROM waited) AS wait_count,
  (SELECT count(*) FROM gap) AS gap_count,
  (SELECT max(stream_count) FROM busy_stream) AS stream_count
FROM waited
GROUP BY api_name
ORDER BY count(*) DESC, api_name
LIMIT 1
