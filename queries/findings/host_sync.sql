/*---
name: host_sync
version: 1
title: The host waits for the GPU, then the GPU for the host
summary: Idle time of a GPU after the thread that launches its work waited for it.
why: To see how much idle time blocking calls such as cudaStreamSynchronize cost.
kind: finding
tags: [cuda, gpu, sync]
reads: [compute_gap_part, idle_part]
requires: [compute_gap_part, all_cuda_call]
finding:
  claim: "Synchronization: the launching thread waits for the GPU before it launches the next work."
  ceiling: Gaps below half a millisecond after a wait, up to the end of the next launch call, and at most as long as the wait. Of longer gaps, only the time inside the waiting call. Time in the queue after the launch does not count.
  remedy: Remove the wait, such as .item(), .cpu(), torch.cuda.synchronize() or a copy without non_blocking=True, or move it behind the next launches. In PyTorch, torch.cuda.set_sync_debug_mode("warn") shows where waits come from.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
  - {name: below, type: duration, default: 500us, min: 0, doc: "Of gaps of this length or longer, only the time inside the call counts; the rest belongs to host_work."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time that would be saved."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "CUDA function that waits."}
  - {name: wait_ns, type: duration, unit: ns, label: "time in the call", doc: "Length of the call up to its end or the end of the gap; null if the call started in the gap."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Only the name of a call tells whether it waits. A copy without Synchronize in its name counts as a wait if the GPU
  went idle at its end and the call had not returned. If the host needs the result of the GPU to go on, the wait cannot
  be removed. Without the wait the host would be further ahead, which can also shorten later gaps; they do not count.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [gpu_idle_causes, cuda_api_sync]
---*/
WITH
-- The last kernel, or in long gaps all work, ended while the thread waited for it.
ended AS MATERIALIZED (
  SELECT
    gpu_id,
    start_ns,
    end_ns,
    gap_start_ns + gap_ns AS gap_end_ns,
    api_name,
    call_start_ns,
    global_tid,
    after_id,
    after_name
  FROM compute_gap_part
  WHERE part IN ('host sync', 'other API call')
    AND start_ns = gap_start_ns
    AND gap_ns < :below
    AND (part = 'host sync' OR api_name GLOB 'cu*Memcpy*Async*')
  UNION ALL
  SELECT gpu_id, start_ns, end_ns, gap_start_ns + gap_ns, api_name, call_start_ns, global_tid, after_id, after_name
  FROM idle_part
  WHERE part IN ('host sync', 'other API call')
    AND start_ns = gap_start_ns
    AND gap_ns >= :below
    AND (
      part = 'host sync'
      OR before_kind = 'memcpy' AND api_name GLOB 'cu*Memcpy*Async*'
    )
),
-- The thread began to wait for a GPU that was idle already.
idle_wait AS (
  SELECT gpu_id, start_ns, dur_ns, api_name, NULL AS wait_ns, after_id, after_name
  FROM idle_part
  WHERE part = 'host sync'
    AND start_ns > gap_start_ns
),
-- When the next work had been launched.
launched AS MATERIALIZED (
  SELECT gpu_id, gap_start_ns, max(end_ns) AS launched_ns
  FROM compute_gap_part
  WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API', 'unknown')
    AND gap_start_ns IN (SELECT start_ns FROM ended)
  GROUP BY gpu_id, gap_start_ns
),
after_wait AS (
  SELECT
    ended.gpu_id,
    ended.start_ns,
    iif(
      ended.gap_end_ns - ended.start_ns < :below,
      min(ended.end_ns - ended.call_start_ns, coalesce(launched.launched_ns, ended.gap_end_ns) - ended.start_ns),
      ended.end_ns - ended.start_ns
    ) AS dur_ns,
    ended.api_name,
    ended.end_ns - ended.call_start_ns AS wait_ns,
    ended.after_id,
    ended.after_name
  FROM ended
  LEFT JOIN launched
    ON launched.gpu_id = ended.gpu_id
    AND launched.gap_start_ns = ended.start_ns
)
SELECT gpu_id, start_ns, dur_ns, api_name AS subject, wait_ns, after_name
FROM (SELECT * FROM after_wait UNION ALL SELECT * FROM idle_wait)
WHERE dur_ns >= :least
ORDER BY gpu_id, start_ns, after_id
