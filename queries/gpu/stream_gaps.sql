/*---
name: stream_gaps
version: 2
title: Gaps of each stream
summary: Time between the kernels of each CUDA stream, and how long the GPU idled.
why: To see which streams wait, and for how much of that time the GPU had nothing to do.
kind: sum
tags: [cuda, gpu, kernel]
reads: [all_gpu_window, gpu_window, kernel, memcpy, memset, nvtx_stream, process_device, stream_gap]
requires: [kernel, gpu_window]
params:
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null if unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context."}
  - {name: stream_id, type: id, label: "stream", priority: 0, doc: "CUDA stream ID, unique within its context."}
  - {name: stream_name, type: text, priority: 2, doc: "Name that the program gave the stream; null if it gave none."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 3, doc: "Kernels of the stream; with memory=true also copies and fills."}
  - {name: span_ns, type: duration, unit: ns, doc: "Time from the start of the first of these operations to the end of the last: busy_ns + gap_ns."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one of these operations ran."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Number of gaps between these operations."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap time", priority: 1, doc: "Sum of the gaps. The stream waited; other streams may have run work."}
  - {name: gap_idle_ns, type: duration, unit: ns, label: "GPU idle in gaps", priority: 1, doc: "Part of gap_ns in which nothing ran on the GPU, from any stream or process."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean gap", doc: "Mean gap; null if there are no gaps."}
  - {name: median_ns, type: duration, unit: ns, label: "median gap", doc: "Median gap; null if there are no gaps."}
  - {name: p90_ns, type: duration, unit: ns, label: "p90 gap", priority: 3, doc: "Length that nine of ten gaps do not exceed; null if there are no gaps."}
  - {name: max_ns, type: duration, unit: ns, label: "longest gap", priority: 1, doc: "Longest gap; null if there are no gaps."}
  - {name: gpu_window_ns, type: duration, unit: ns, label: "GPU window", priority: 3, doc: "Time that --time or --window selects, or the time from the first to the last operation of the GPU; the same in all rows of a GPU."}
  - {name: gpu_idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 3, doc: "Part of gpu_window_ns in which nothing ran on the GPU; the same in all rows of a GPU, so do not add it up."}
  - {name: gpu_no_kernel_ns, type: duration, unit: ns, label: "GPU without kernel", priority: 3, doc: "Part of gpu_window_ns in which no kernel ran: gpu_idle_ns plus the time with copies and fills only; the same in all rows of a GPU."}
checks:
  - busy_ns + gap_ns = span_ns
  - gap_idle_ns BETWEEN 0 AND gap_ns
  - gpu_idle_ns <= gpu_no_kernel_ns AND gpu_no_kernel_ns <= gpu_window_ns
  - (gap_count = 0) = (max_ns IS NULL)
when_empty: "no kernel was recorded; -p memory=true also counts copies and fills"
limits: >-
  A gap of one stream is not idle GPU time: during it, other streams may run work. So gap_ns of several streams can add
  up to more than the GPU idled, and gap_idle_ns counts idle time once per waiting stream. gpu_idle_ns is the idle time
  of the GPU itself. Operations that cross an end of --time count whole in the columns of gaps and streams; the GPU's
  columns are cut to --time. With --device, --stream, --process or --nvtx, operations outside the scope are ignored;
  only gap_idle_ns counts them as work. CUDA graphs traced as a whole fill the GPU's time, but belong to no stream's
  row.
see_also: [gap_pairs, gap_histogram, gpu_time, gpu_idle_causes, stream_concurrency]
---*/
WITH
op AS (
  SELECT global_pid, pid, device_id, context_id, stream_id, start_ns, end_ns FROM kernel
  UNION ALL
  SELECT global_pid, pid, device_id, context_id, stream_id, start_ns, end_ns FROM memcpy WHERE :memory
  UNION ALL
  SELECT global_pid, pid, device_id, context_id, stream_id, start_ns, end_ns FROM memset WHERE :memory
),
stream AS (
  SELECT
    global_pid,
    device_id,
    context_id,
    stream_id,
    min(pid) AS pid,
    count(*) AS op_count,
    max(end_ns) - min(start_ns) AS span_ns,
    busy_ns(start_ns, end_ns) AS busy_ns
  FROM op
  GROUP BY global_pid, device_id, context_id, stream_id
),
used AS MATERIALIZED (
  SELECT global_pid, device_id, gpu_id
  FROM process_device
),
gap AS (
  SELECT
    gap.global_pid,
    gap.device_id,
    gap.context_id,
    gap.stream_id,
    count(*) AS gap_count,
    sum(gap.dur_ns) AS gap_ns,
    sum(gpu.idle_ns) AS gap_idle_ns,
    avg(gap.dur_ns) AS mean_ns,
    median(gap.dur_ns) AS median_ns,
    percentile(gap.dur_ns, 90) AS p90_ns,
    max(gap.dur_ns) AS max_ns
  FROM stream_gap AS gap
  CROSS JOIN used
  LEFT JOIN all_gpu_window AS gpu
    ON gpu.start_ns = gap.start_ns
    AND gpu.end_ns = gap.end_ns
    AND gpu.gpu_id = used.gpu_id
  WHERE gap.among = iif(:memory, 'op', 'kernel')
    AND used.device_id IS NOT DISTINCT FROM gap.device_id
    AND used.global_pid IS NOT DISTINCT FROM gap.global_pid
  GROUP BY gap.global_pid, gap.device_id, gap.context_id, gap.stream_id
)
SELECT
  stream.pid,
  used.gpu_id,
  stream.device_id,
  stream.context_id,
  stream.stream_id,
  (
    SELECT named.stream_name
    FROM nvtx_stream AS named
    WHERE named.stream_id = stream.stream_id
      AND named.context_id = stream.context_id
      AND named.pid = stream.pid
  ) AS stream_name,
  stream.op_count,
  stream.span_ns,
  stream.busy_ns,
  coalesce(gap.gap_count, 0) AS gap_count,
  coalesce(gap.gap_ns, 0) AS gap_ns,
  coalesce(gap.gap_idle_ns, 0) AS gap_idle_ns,
  gap.mean_ns,
  gap.median_ns,
  gap.p90_ns,
  gap.max_ns,
  gpu.window_ns AS gpu_window_ns,
  gpu.idle_ns AS gpu_idle_ns,
  gpu.idle_ns + gpu.exposed_memory_ns AS gpu_no_kernel_ns
FROM stream
JOIN used
  ON used.device_id IS NOT DISTINCT FROM stream.device_id
  AND used.global_pid IS NOT DISTINCT FROM stream.global_pid
LEFT JOIN gap
  ON gap.global_pid IS NOT DISTINCT FROM stream.global_pid
  AND gap.device_id IS NOT DISTINCT FROM stream.device_id
  AND gap.context_id IS NOT DISTINCT FROM stream.context_id
  AND gap.stream_id IS NOT DISTINCT FROM stream.stream_id
LEFT JOIN gpu_window AS gpu
  ON gpu.gpu_id = used.gpu_id
ORDER BY gap_count DESC, gap_ns DESC, stream.global_pid, stream.device_id, stream.context_id, stream.stream_id
