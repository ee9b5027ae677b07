/*---
name: gpu_idle_causes
version: 2
title: Why the GPU idled
summary: Longest gaps of the GPUs, and what the launching thread did in the meantime.
why: To see whether the GPU waited for a sync, an allocation, Python or the launch itself, and where.
kind: trace
tags: [cuda, gpu]
reads: [all_cuda_call, all_gpu_window, gpu_gap, graph_trace, kernel, memcpy, memset]
requires: [gpu_gap]
params:
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows. Each row is compared with every API call."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by dur_ns; 1 is the longest."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the gap, which is the sum of the seven parts below."}
  - {name: cause, type: text, priority: 0, doc: "Largest of the seven parts: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown."}
  - {name: cause_ns, type: duration, unit: ns, label: "in cause", priority: 1, doc: "Length of the part that cause names."}
  - {name: sync_ns, type: duration, unit: ns, label: "host sync", doc: "Time before the launch in a call that waits: a call named Synchronize, or a copy or fill without Async in its name."}
  - {name: alloc_ns, type: duration, unit: ns, label: "memory allocation", doc: "Time before the launch in a call that allocates, frees, maps or pins memory, and in no call that waits."}
  - {name: api_ns, type: duration, unit: ns, label: "other API call", doc: "Time before the launch in any other CUDA API call."}
  - {name: no_api_ns, type: duration, unit: ns, label: "outside CUDA API", doc: "Time before the launch in no CUDA API call: the thread ran its own code or other libraries, or waited for another thread."}
  - {name: launch_ns, type: duration, unit: ns, label: "launch call", doc: "Time in the call that launched the operation after the gap."}
  - {name: queued_ns, type: duration, unit: ns, doc: "Time after that call returned: the operation waited for an event, another stream or the hardware."}
  - {name: unknown_ns, type: duration, unit: ns, priority: 3, doc: "The whole gap if the launching call was not recorded or if nothing follows; else 0."}
  - {name: idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 3, doc: "Part of the gap in which nothing ran on the GPU; less than dur_ns if work outside the scope ran."}
  - {name: api_name, type: text, label: "top API call before launch", doc: "API function with the most time before the launch, even if another part is larger; null if there was none or if the launch call started before the gap."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID of that thread; null if unknown."}
  - {name: before_name, type: text, label: "before", priority: 3, doc: "Last operation to end before the gap; null at the start of the window."}
  - {name: after_name, type: text, label: "after", doc: "Operation that starts at the end of the gap; null at the end of the window."}
checks:
  - cause_ns = max(sync_ns, alloc_ns, api_ns, no_api_ns, launch_ns, queued_ns, unknown_ns)
  - sync_ns + alloc_ns + api_ns + no_api_ns + launch_ns + queued_ns + unknown_ns = dur_ns
  - idle_ns BETWEEN 0 AND dur_ns
  - sync_ns >= 0 AND alloc_ns >= 0 AND api_ns >= 0 AND no_api_ns >= 0 AND launch_ns >= 0 AND queued_ns >= 0
when_empty: "no GPU had a gap: each was busy from its first operation to its last"
limits: >-
  The parts describe one thread, the one that launched the operation after the gap. If it waited for another thread,
  that time is outside the CUDA API. cause is the largest part, and api_name is the API function with the most time
  before the launch. So a cause outside CUDA API can stand beside the name of a function that took less time. A node of
  a CUDA graph counts from the graph's launch. Nested calls count once. Only the name of a call tells whether it waits:
  cudaMemset on device memory usually does not, nor does a small copy from pageable memory. With --nvtx, --process and
  similar options, a gap is a time without work in the scope; see idle_ns.
see_also: [gpu_idle_cause_sum, gpu_gaps, gpu_time, launch_latency, cuda_api_sync]
---*/
-- LIMIT -1 makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
longest AS (
  SELECT row_number() OVER (ORDER BY dur_ns DESC, start_ns, gpu_id) AS rank, *
  FROM gpu_gap
  WHERE level = 'gpu'
  ORDER BY dur_ns DESC, start_ns, gpu_id
  LIMIT :limit
),
next_op AS (
  SELECT
    longest.rank,
    longest.start_ns,
    longest.end_ns,
    CASE after_kind
      WHEN 'kernel' THEN (SELECT correlation_id FROM kernel WHERE kernel_id = after_id)
      WHEN 'memcpy' THEN (SELECT correlation_id FROM memcpy WHERE memcpy_id = after_id)
      WHEN 'memset' THEN (SELECT correlation_id FROM memset WHERE memset_id = after_id)
      WHEN 'graph' THEN (SELECT correlation_id FROM graph_trace WHERE graph_trace_id = after_id)
    END AS correlation_id,
    CASE after_kind
      WHEN 'kernel' THEN (SELECT global_pid FROM kernel WHERE kernel_id = after_id)
      WHEN 'memcpy' THEN (SELECT global_pid FROM memcpy WHERE memcpy_id = after_id)
      WHEN 'memset' THEN (SELECT global_pid FROM memset WHERE memset_id = after_id)
      WHEN 'graph' THEN (SELECT global_pid FROM graph_trace WHERE graph_trace_id = after_id)
    END AS global_pid
  FROM longest
  LIMIT -1
),
-- Read the calls once, and look up the gaps of each: there are few gaps.
launch AS (
  SELECT rank, from_ns, to_ns, global_tid, pid, tid, call_start_ns, call_end_ns
  FROM (
    SELECT
      next_op.rank,
      next_op.start_ns AS from_ns,
      next_op.end_ns AS to_ns,
      api.global_tid,
      api.pid,
      api.tid,
      -- Clipped to the gap.
      max(min(api.start_ns, next_op.end_ns), next_op.start_ns) AS call_start_ns,
      max(min(api.end_ns, next_op.end_ns), next_op.start_ns) AS call_end_ns,
      row_number() OVER (PARTITION BY next_op.rank ORDER BY api.start_ns, api.end_ns DESC, api.call_id) AS nth
    FROM all_cuda_call AS api
    CROSS JOIN next_op
    WHERE next_op.correlation_id = api.correlation_id
      AND next_op.global_pid = api.global_pid
      AND api.correlation_id <> 0
  )
  WHERE nth = 1
  LIMIT -1
),
meanwhile AS (
  SELECT
    launch.rank,
    api.api_name,
    max(api.start_ns, launch.from_ns) AS start_ns,
    min(api.end_ns, launch.call_start_ns) AS end_ns,
    CASE
      -- Calls that build a CUDA graph neither wait nor allocate.
      WHEN api.api_name GLOB 'cu*Graph*' THEN 3
      WHEN api.api_name GLOB '*Synchronize*'
        OR (api.api_name GLOB 'cu*Memcpy*' OR api.api_name GLOB 'cu*Memset*') AND NOT api.api_name GLOB '*Async*'
        THEN 1
      WHEN api.api_name GLOB 'cu*Malloc*'
        OR api.api_name GLOB 'cu*Free*'
        OR api.api_name GLOB 'cu*MemAlloc*'
        OR api.api_name GLOB 'cu*HostAlloc*'
        OR api.api_name GLOB 'cu*Host*egister*'
        OR api.api_name GLOB 'cuMem*Create*'
        OR api.api_name GLOB 'cuMem*Map*'
        OR api.api_name GLOB 'cuMemRelease*'
        OR api.api_name GLOB 'cuMemSetAccess*'
        OR api.api_name GLOB 'cuMemAddress*'
        OR api.api_name GLOB 'cu*MemPool*'
        THEN 2
      ELSE 3
    END AS kind
  FROM all_cuda_call AS api
  CROSS JOIN launch
  WHERE launch.global_tid = api.global_tid
    AND launch.from_ns < api.end_ns
    AND launch.call_start_ns > api.start_ns
    AND launch.call_start_ns > launch.from_ns
  LIMIT -1
),
spent AS (
  SELECT
    rank,
    busy_ns(start_ns, end_ns) FILTER (WHERE kind = 1) AS sync_ns,
    busy_ns(start_ns, end_ns) FILTER (WHERE kind <= 2) AS sync_alloc_ns,
    busy_ns(start_ns, end_ns) AS any_api_ns
  FROM meanwhile
  GROUP BY rank
),
most AS (
  SELECT
    rank,
    api_name,
    row_number() OVER (PARTITION BY rank ORDER BY busy_ns(start_ns, end_ns) DESC, api_name) AS nth
  FROM meanwhile
  GROUP BY rank, api_name
),
part AS (
  SELECT
    longest.rank,
    longest.gpu_id,
    longest.device_id,
    gpu.idle_ns,
    longest.start_ns,
    longest.dur_ns,
    longest.before_name,
    longest.after_name,
    launch.tid,
    launch.pid,
    coalesce(spent.sync_ns, 0) AS sync_ns,
    coalesce(spent.sync_alloc_ns - spent.sync_ns, 0) AS alloc_ns,
    coalesce(spent.any_api_ns - spent.sync_alloc_ns, 0) AS api_ns,
    coalesce(launch.call_start_ns - launch.from_ns - coalesce(spent.any_api_ns, 0), 0) AS no_api_ns,
    coalesce(launch.call_end_ns - launch.call_start_ns, 0) AS launch_ns,
    coalesce(launch.to_ns - launch.call_end_ns, 0) AS queued_ns,
    iif(launch.rank IS NULL, longest.dur_ns, 0) AS unknown_ns,
    most.api_name
  FROM longest
  JOIN all_gpu_window AS gpu
    ON gpu.start_ns = longest.start_ns
    AND gpu.end_ns = longest.end_ns
    AND gpu.gpu_id = longest.gpu_id
  LEFT JOIN launch
    ON launch.rank = longest.rank
  LEFT JOIN spent
    ON spent.rank = longest.rank
  LEFT JOIN most
    ON most.rank = longest.rank
    AND most.nth = 1
),
measured AS (
  SELECT *, max(sync_ns, alloc_ns, api_ns, no_api_ns, launch_ns, queued_ns, unknown_ns) AS cause_ns
  FROM part
)
SELECT
  rank,
  gpu_id,
  device_id,
  start_ns,
  dur_ns,
  CASE cause_ns
    WHEN sync_ns THEN 'host sync'
    WHEN alloc_ns THEN 'memory allocation'
    WHEN api_ns THEN 'other API call'
    WHEN no_api_ns THEN 'outside CUDA API'
    WHEN launch_ns THEN 'launch call'
    WHEN queued_ns THEN 'queued'
    ELSE 'unknown'
  END AS cause,
  cause_ns,
  sync_ns,
  alloc_ns,
  api_ns,
  no_api_ns,
  launch_ns,
  queued_ns,
  unknown_ns,
  idle_ns,
  api_name,
  tid,
  pid,
  before_name,
  after_name
FROM measured
ORDER BY rank
