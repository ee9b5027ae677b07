/*---
name: stream_turns
version: 2
title: Streams that take turns
summary: Gaps between kernels of two streams with a wait of the host or a stream.
why: To see that streams cannot overlap, because the host or an event makes each wait for the other.
kind: info
internal: true
tags: [cuda, gpu]
reads: [cuda_sync, gpu_gap, gpu_stream, idle_part]
requires: [gpu_stream, idle_part]
rows_if: "EXISTS (SELECT 1 FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream) WHERE 20 * compute_ns >= all_ns AND compute_ns > 0 GROUP BY gpu_id HAVING count(*) > 1)"
columns:
  - {name: api_name, type: text, label: "call", priority: 0, doc: "Call with most of these waits; cudaStreamWaitEvent where the host waits in less than half of these gaps, and streams wait for events half as often as there are gaps, or more."}
  - {name: wait_count, type: int, unit: count, label: "waits", priority: 0, doc: "Gaps between a kernel of one stream and one of another in which the launching thread waits for the GPU; of cudaStreamWaitEvent, waits of streams for events."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "All gaps between kernels of two streams."}
  - {name: stream_count, type: int, unit: count, label: "streams", priority: 1, doc: "Streams with a twentieth of a GPU's compute time or more, on the GPU with most."}
checks:
  - wait_count > 0
limits: The second kernel may need the result of the first; an event then orders the streams without the host.
see_also: [stream_concurrency, host_sync]
---*/
WITH
busy_stream AS (
  SELECT gpu_id, count(*) AS stream_count
  FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream)
  WHERE 20 * compute_ns >= all_ns
    AND compute_ns > 0
  GROUP BY gpu_id
),
gap AS MATERIALIZED (
  SELECT gpu_id, start_ns
  FROM gpu_gap
  WHERE level = 'gpu'
    AND before_kind = 'kernel'
    AND after_kind = 'kernel'
    AND NOT is_in_stream
    AND gpu_id IN (SELECT gpu_id FROM busy_stream WHERE stream_count > 1)
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
-- Streams wait on the GPU, which takes no time of the host.
found AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT api_name, sum(count(*)) OVER () AS wait_count, count(*) AS call_count
    FROM waited
    GROUP BY api_name
    UNION ALL
    SELECT 'cudaStreamWaitEvent', count(*), 0
    FROM cuda_sync
    WHERE sync_kind = 'stream waits for event'
      AND EXISTS (SELECT 1 FROM gap)
    HAVING count(*) >= 0.5 * (SELECT count(*) FROM gap)
      AND 2 * (SELECT count(*) FROM waited) < (SELECT count(*) FROM gap)
  )
)
SELECT
  api_name,
  wait_count,
  (SELECT count(*) FROM gap) AS gap_count,
  (SELECT max(stream_count) FROM busy_stream) AS stream_count
FROM found
ORDER BY api_name = 'cudaStreamWaitEvent' DESC, call_count DESC, api_name
LIMIT 1
