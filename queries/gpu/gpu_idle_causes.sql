/*---
name: gpu_idle_causes
version: 2
title: Why the GPU idled
summary: Longest gaps of the GPUs, and what the launching thread did in the meantime.
why: To see whether the GPU waited for a sync, an allocation, Python or the launch itself, and where.
kind: trace
tags: [cuda, gpu]
reads: [all_gpu_window, gpu_gap, idle_part]
requires: [gpu_gap]
params:
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by dur_ns; 1 is the longest."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the gap, which is the sum of the seven parts below."}
  - {name: cause, type: text, priority: 0, doc: "Largest of the seven parts: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown."}
  - {name: cause_ns, type: duration, unit: ns, label: "in cause", priority: 1, doc: "Length of the part that cause names."}
  - {name: sync_ns, type: duration, unit: ns, label: "host sync", doc: "Time before the launch in a call that waits: a call named Synchronize, or a copy or fill without Async in its name, or a loop of cudaEventQuery or cudaStreamQuery."}
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
  before the launch. So a cause outside CUDA API can stand next to the name of a function that took less time. A node of
  a CUDA graph counts from the graph's launch. Nested calls count once: a wait inside cudaFree is
  time of the call that waits. Only the name of a call shows whether it waits:
  cudaMemset on device memory usually does not, nor does a small copy from pageable memory. With --nvtx, --process and
  similar options, a gap is a time without work in the scope; see idle_ns.
see_also: [findings, gpu_idle_cause_sum, gpu_gaps, gpu_time, launch_latency, cuda_api_sync]
---*/
WITH
longest AS (
  SELECT row_number() OVER (ORDER BY dur_ns DESC, start_ns, gpu_id) AS rank, *
  FROM gpu_gap
  WHERE level = 'gpu'
  ORDER BY dur_ns DESC, start_ns, gpu_id
  LIMIT :limit
),
part AS MATERIALIZED (
  SELECT
    longest.rank,
    sum(iif(part = 'host sync', idle_part.dur_ns, 0)) AS sync_ns,
    sum(iif(part = 'memory allocation', idle_part.dur_ns, 0)) AS alloc_ns,
    sum(iif(part = 'other API call', idle_part.dur_ns, 0)) AS api_ns,
    sum(iif(part = 'outside CUDA API', idle_part.dur_ns, 0)) AS no_api_ns,
    sum(iif(part = 'launch call', idle_part.dur_ns, 0)) AS launch_ns,
    sum(iif(part = 'queued', idle_part.dur_ns, 0)) AS queued_ns,
    sum(iif(part = 'unknown', idle_part.dur_ns, 0)) AS unknown_ns,
    min(idle_part.tid) AS tid,
    min(idle_part.pid) AS pid
  FROM idle_part
  CROSS JOIN longest
  WHERE longest.gpu_id = idle_part.gpu_id
    AND longest.start_ns = idle_part.gap_start_ns
  GROUP BY longest.rank
),
called AS (
  SELECT
    longest.rank,
    idle_part.api_name,
    row_number() OVER (PARTITION BY longest.rank ORDER BY sum(idle_part.dur_ns) DESC, idle_part.api_name) AS nth
  FROM idle_part
  CROSS JOIN longest
  WHERE longest.gpu_id = idle_part.gpu_id
    AND longest.start_ns = idle_part.gap_start_ns
    AND idle_part.part IN ('host sync', 'memory allocation', 'other API call')
  GROUP BY longest.rank, idle_part.api_name
),
measured AS (
  SELECT
    longest.gpu_id,
    longest.device_id,
    longest.start_ns,
    longest.dur_ns,
    longest.before_name,
    longest.after_name,
    part.*,
    gpu.idle_ns,
    called.api_name,
    max(sync_ns, alloc_ns, api_ns, no_api_ns, launch_ns, queued_ns, unknown_ns) AS cause_ns
  FROM longest
  JOIN part
    ON part.rank = longest.rank
  JOIN all_gpu_window AS gpu
    ON gpu.start_ns = longest.start_ns
    AND gpu.end_ns = longest.end_ns
    AND gpu.gpu_id = longest.gpu_id
  LEFT JOIN called
    ON called.rank = longest.rank
    AND called.nth = 1
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
