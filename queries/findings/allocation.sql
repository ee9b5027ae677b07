/*---
name: allocation
version: 1
title: The GPU waits for memory allocation
summary: Idle time of a GPU inside calls that allocate, free, map or pin memory.
why: To see how much idle time cudaMalloc, cudaFree and pinning cost in the steady state.
kind: finding
tags: [api, cuda, gpu, memory]
reads: [compute_gap_part, gpu_overlap]
requires: [compute_gap_part]
finding:
  claim: "Allocation: the GPU idles while the launching thread allocates, frees, maps or pins memory."
  ceiling: Time without a compute kernel inside these calls and those that create streams and events, before the next launch. Calls before the first tenth of the kernels has started do not count.
  remedy: >-
    Allocate once and reuse the memory. With cudaMallocAsync, raise cudaMemPoolAttrReleaseThreshold so that the pool keeps it.
  in_pytorch: >-
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, no torch.cuda.empty_cache() in the loop, and batches pinned in the DataLoader.
  link: https://docs.pytorch.org/docs/stable/notes/cuda.html
  edit: "idle=@\nwait=@"
  narrows: [slow_iterations]
  confidence: high
  frees: idle
params:
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "CUDA function."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Allocations of the start-up are normal. nsq takes the start-up to end when a tenth of all kernels has started, so a
  report of little more than a start-up has rows for it. cudaFree also waits for the GPU; the idle time after this wait,
  outside the call, does not count.
see_also: [gpu_idle_causes, host_sync, cuda_api_sum]
---*/
WITH
op AS (
  SELECT start_ns
  FROM gpu_overlap
  WHERE op_kind IN ('kernel', 'graph')
),
-- When a tenth of the kernels have begun.
steady AS (
  SELECT start_ns
  FROM op
  ORDER BY start_ns
  LIMIT 1 OFFSET (SELECT count(*) / 10 FROM op)
)
SELECT gpu_id, start_ns, dur_ns, api_name AS subject, after_name
FROM compute_gap_part
WHERE (
    part = 'memory allocation'
    -- Streams and events have memory, too. Programs need few, for all steps.
    OR part = 'other API call'
    AND (
      api_name GLOB 'cu*StreamCreate*'
      OR api_name GLOB 'cu*StreamDestroy*'
      OR api_name GLOB 'cu*EventCreate*'
      OR api_name GLOB 'cu*EventDestroy*'
      OR api_name GLOB 'hipStreamCreate*'
      OR api_name GLOB 'hipStreamDestroy*'
      OR api_name GLOB 'hipEventCreate*'
      OR api_name GLOB 'hipEventDestroy*'
    )
  )
  AND dur_ns >= :least
  AND start_ns >= (SELECT start_ns FROM steady)
ORDER BY gpu_id, start_ns, after_id
