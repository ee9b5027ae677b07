/*---
name: gpu_idle_cause_sum
version: 1
title: Why the GPUs idled, in total
summary: Idle time of each GPU by cause, over all its gaps.
why: To see what most of the idle time waits for, even if it is spread over thousands of short gaps.
kind: sum
tags: [cuda, gpu]
reads: [all_cuda_call, gpu_gap, graph_trace, kernel, memcpy, memset]
requires: [gpu_gap]
params:
  - {name: at_least, type: duration, default: 0ns, min: 0, doc: "Shortest gap to count."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: cause, type: text, priority: 0, doc: "What the launching thread did in the meantime: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown. gpu_idle_causes explains each."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 1, doc: "Sum of this part of all gaps of the GPU."}
  - {name: time_pct, type: percent, unit: percent, label: "share of idle time", priority: 1, doc: "total_ns as a share of all gaps of the GPU."}
  - {name: gap_count, type: int, unit: count, label: "gaps mostly this", priority: 1, doc: "Number of gaps of which this is the largest part."}
  - {name: gap_ns, type: duration, unit: ns, label: "time of these gaps", doc: "Sum of their whole lengths, including their other parts."}
  - {name: max_ns, type: duration, unit: ns, label: "longest of these gaps", priority: 1, doc: "Whole length of the longest of them; null if there are none."}
checks:
  - total_ns > 0 AND time_pct BETWEEN 0 AND 100
  - (gap_count = 0) = (max_ns IS NULL) AND gap_ns >= coalesce(max_ns, 0)
when_empty: "no GPU had a gap of the length to count; -p at_least=0ns counts all gaps"
limits: >-
  The rows of a GPU add up to its gaps, in total_ns and in gap_ns. Without at_least, that is idle_ns of gpu_time. The
  parts are those of gpu_idle_causes, with the same limits: they describe only the thread that launched the operation
  after the gap, and only the name of a call tells whether it waits. With --nvtx, --process and similar options, a gap
  is a time without work in the scope, so other work may run in it.
see_also: [gpu_idle_causes, gpu_time, launch_latency, cuda_api_sync]
---*/
-- LIMIT -1 makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
cause (place, cause) AS (
  VALUES
    (1, 'host sync'),
    (2, 'memory allocation'),
    (3, 'other API call'),
    (4, 'outside CUDA API'),
    (5, 'launch call'),
    (6, 'queued'),
    (7, 'unknown')
),
gap AS (
  SELECT
    row_number() OVER (ORDER BY gpu_id, start_ns) AS gap_number,
    gpu_id,
    device_id,
    start_ns,
    end_ns,
    dur_ns,
    after_kind,
    after_id
  FROM gpu_gap
  WHERE level = 'gpu'
    AND dur_ns >= :at_least
  LIMIT -1
),
next_op AS (
  SELECT
    gap_number,
    start_ns,
    end_ns,
    -- Without the CAST, SQLite does not index this column, and compares each call with each gap.
    CAST(
      CASE after_kind
        WHEN 'kernel' THEN (SELECT correlation_id FROM kernel WHERE kernel_id = after_id)
        WHEN 'memcpy' THEN (SELECT correlation_id FROM memcpy WHERE memcpy_id = after_id)
        WHEN 'memset' THEN (SELECT correlation_id FROM memset WHERE memset_id = after_id)
        WHEN 'graph' THEN (SELECT correlation_id FROM graph_trace WHERE graph_trace_id = after_id)
      END AS INTEGER
    ) AS correlation_id,
    CASE after_kind
      WHEN 'kernel' THEN (SELECT global_pid FROM kernel WHERE kernel_id = after_id)
      WHEN 'memcpy' THEN (SELECT global_pid FROM memcpy WHERE memcpy_id = after_id)
      WHEN 'memset' THEN (SELECT global_pid FROM memset WHERE memset_id = after_id)
      WHEN 'graph' THEN (SELECT global_pid FROM graph_trace WHERE graph_trace_id = after_id)
    END AS global_pid
  FROM gap
  LIMIT -1
),
-- Read the calls once, and look up the gaps of each. Of nested calls, the outermost is the launch.
launch AS (
  SELECT *
  FROM (
    SELECT
      next_op.gap_number,
      next_op.start_ns AS from_ns,
      next_op.end_ns AS to_ns,
      api.global_tid,
      -- Clipped to the gap.
      max(min(api.start_ns, next_op.end_ns), next_op.start_ns) AS call_start_ns,
      max(min(api.end_ns, next_op.end_ns), next_op.start_ns) AS call_end_ns,
      row_number() OVER (PARTITION BY next_op.gap_number ORDER BY api.start_ns, api.end_ns DESC, api.call_id) AS nth
    FROM all_cuda_call AS api
    CROSS JOIN next_op
    WHERE next_op.correlation_id = api.correlation_id
      AND next_op.global_pid = api.global_pid
      AND api.correlation_id <> 0
  )
  WHERE nth = 1
  LIMIT -1
),
-- Classify each name once, by its ID.
function AS (
  SELECT name_id, (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS api_name
  FROM (SELECT name_id, min(call_id) AS any_call_id FROM all_cuda_call GROUP BY name_id)
  LIMIT -1
),
function_kind AS (
  SELECT
    name_id,
    CASE
      -- Calls that build a CUDA graph neither wait nor allocate.
      WHEN api_name GLOB 'cu*Graph*' THEN 3
      WHEN api_name GLOB '*Synchronize*'
        OR (api_name GLOB 'cu*Memcpy*' OR api_name GLOB 'cu*Memset*') AND NOT api_name GLOB '*Async*'
        THEN 1
      WHEN api_name GLOB 'cu*Malloc*'
        OR api_name GLOB 'cu*Free*'
        OR api_name GLOB 'cu*MemAlloc*'
        OR api_name GLOB 'cu*HostAlloc*'
        OR api_name GLOB 'cu*Host*egister*'
        OR api_name GLOB 'cuMem*Create*'
        OR api_name GLOB 'cuMem*Map*'
        OR api_name GLOB 'cuMemRelease*'
        OR api_name GLOB 'cuMemSetAccess*'
        OR api_name GLOB 'cuMemAddress*'
        OR api_name GLOB 'cu*MemPool*'
        THEN 2
      ELSE 3
    END AS kind
  FROM function
  LIMIT -1
),
-- The calls of each thread, and both ends of the time before each launch, in order of time.
event AS (
  SELECT api.global_tid, api.start_ns AS at_ns, api.end_ns, function_kind.kind, NULL AS gap_number, api.call_id
  FROM all_cuda_call AS api
  JOIN function_kind
    ON function_kind.name_id IS NOT DISTINCT FROM api.name_id
  UNION ALL
  SELECT global_tid, from_ns, NULL, NULL, gap_number, NULL
  FROM launch
  WHERE call_start_ns > from_ns
  UNION ALL
  SELECT global_tid, call_start_ns, NULL, NULL, gap_number, NULL
  FROM launch
  WHERE call_start_ns > from_ns
),
-- The time until which earlier calls run: those that wait, those that wait or allocate, and all.
reached AS (
  SELECT
    *,
    max(at_ns, coalesce(max(iif(kind = 1, end_ns, NULL)) OVER earlier, at_ns)) AS sync_until_ns,
    max(at_ns, coalesce(max(iif(kind <= 2, end_ns, NULL)) OVER earlier, at_ns)) AS sync_alloc_until_ns,
    max(at_ns, coalesce(max(end_ns) OVER earlier, at_ns)) AS api_until_ns
  FROM event
  WINDOW earlier AS (
    PARTITION BY global_tid
    ORDER BY at_ns, gap_number, call_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
-- The time that calls have taken up to here, where overlaps count once.
taken AS (
  SELECT
    gap_number,
    sum(iif(kind = 1, max(end_ns - sync_until_ns, 0), 0)) OVER so_far - (sync_until_ns - at_ns) AS sync_ns,
    sum(iif(kind <= 2, max(end_ns - sync_alloc_until_ns, 0), 0)) OVER so_far
      - (sync_alloc_until_ns - at_ns) AS sync_alloc_ns,
    sum(coalesce(max(end_ns - api_until_ns, 0), 0)) OVER so_far - (api_until_ns - at_ns) AS any_api_ns
  FROM reached
  WINDOW so_far AS (PARTITION BY global_tid ORDER BY at_ns, gap_number, call_id ROWS UNBOUNDED PRECEDING)
),
spent AS (
  SELECT
    gap_number,
    max(sync_ns) - min(sync_ns) AS sync_ns,
    max(sync_alloc_ns) - min(sync_alloc_ns) AS sync_alloc_ns,
    max(any_api_ns) - min(any_api_ns) AS any_api_ns
  FROM taken
  WHERE gap_number IS NOT NULL
  GROUP BY gap_number
  LIMIT -1
),
part AS (
  SELECT
    gap.gpu_id,
    gap.device_id,
    gap.dur_ns,
    coalesce(spent.sync_ns, 0) AS sync_ns,
    coalesce(spent.sync_alloc_ns - spent.sync_ns, 0) AS alloc_ns,
    coalesce(spent.any_api_ns - spent.sync_alloc_ns, 0) AS api_ns,
    coalesce(launch.call_start_ns - launch.from_ns - coalesce(spent.any_api_ns, 0), 0) AS no_api_ns,
    coalesce(launch.call_end_ns - launch.call_start_ns, 0) AS launch_ns,
    coalesce(launch.to_ns - launch.call_end_ns, 0) AS queued_ns,
    iif(launch.gap_number IS NULL, gap.dur_ns, 0) AS unknown_ns
  FROM gap
  LEFT JOIN launch
    ON launch.gap_number = gap.gap_number
  LEFT JOIN spent
    ON spent.gap_number = gap.gap_number
),
placed AS (
  SELECT
    *,
    CASE max(sync_ns, alloc_ns, api_ns, no_api_ns, launch_ns, queued_ns, unknown_ns)
      WHEN sync_ns THEN 1
      WHEN alloc_ns THEN 2
      WHEN api_ns THEN 3
      WHEN no_api_ns THEN 4
      WHEN launch_ns THEN 5
      WHEN queued_ns THEN 6
      ELSE 7
    END AS place
  FROM part
),
by_place AS (
  SELECT
    gpu_id,
    place,
    min(device_id) AS device_id,
    count(*) AS gap_count,
    sum(dur_ns) AS gap_ns,
    max(dur_ns) AS max_ns,
    sum(sync_ns) AS sync_ns,
    sum(alloc_ns) AS alloc_ns,
    sum(api_ns) AS api_ns,
    sum(no_api_ns) AS no_api_ns,
    sum(launch_ns) AS launch_ns,
    sum(queued_ns) AS queued_ns,
    sum(unknown_ns) AS unknown_ns
  FROM placed
  GROUP BY gpu_id, place
  LIMIT -1
),
summed AS (
  SELECT
    by_place.gpu_id,
    min(by_place.device_id) AS device_id,
    cause.cause,
    sum(
      CASE cause.place
        WHEN 1 THEN by_place.sync_ns
        WHEN 2 THEN by_place.alloc_ns
        WHEN 3 THEN by_place.api_ns
        WHEN 4 THEN by_place.no_api_ns
        WHEN 5 THEN by_place.launch_ns
        WHEN 6 THEN by_place.queued_ns
        ELSE by_place.unknown_ns
      END
    ) AS total_ns,
    sum(by_place.gap_ns) AS all_gaps_ns,
    sum(iif(by_place.place = cause.place, by_place.gap_count, 0)) AS gap_count,
    sum(iif(by_place.place = cause.place, by_place.gap_ns, 0)) AS gap_ns,
    max(iif(by_place.place = cause.place, by_place.max_ns, NULL)) AS max_ns
  FROM by_place
  CROSS JOIN cause
  GROUP BY by_place.gpu_id, cause.cause
)
SELECT
  gpu_id,
  device_id,
  cause,
  total_ns,
  100.0 * total_ns / all_gaps_ns AS time_pct,
  gap_count,
  gap_ns,
  max_ns
FROM summed
WHERE total_ns > 0
ORDER BY gpu_id, total_ns DESC, cause
