/*---
name: stream_gaps
version: 1
title: Gaps of each stream
summary: One row per CUDA stream - the time between its kernels, and when the GPU idled.
why: To see which streams wait, and how much of that the GPU truly had nothing to do.
kind: sum
tags: [cuda, gpu, kernel]
reads: [all_gpu_window, gpu_window, kernel, memcpy, memset, process_device, stream_gap]
requires: [kernel, gpu_window]
params:
  - {name: memory, type: bool, default: false, doc: "Copies and fills end gaps too; false goes by kernels alone."}
columns:
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not say."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: op_count, type: int, unit: count, doc: "Kernels of the stream; with memory copies and fills too."}
  - {name: span_ns, type: duration, unit: ns, doc: "From the start of the first of them to the end of the last: busy_ns and gap_ns."}
  - {name: busy_ns, type: duration, unit: ns, doc: "At least one of them ran."}
  - {name: gap_count, type: int, unit: count, doc: "Gaps: none of them ran, and one had before."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Sum of the gaps: the stream waited, though others may have been at work."}
  - {name: gap_idle_ns, type: duration, unit: ns, doc: "Part of gap_ns in which nothing at all ran on the GPU, of any stream or process."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean gap; null if there is none."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median gap; null if there is none."}
  - {name: p90_ns, type: duration, unit: ns, doc: "Length that nine of ten gaps stay within; null if there is none."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest gap; null if there is none."}
  - {name: gpu_window_ns, type: duration, unit: ns, doc: "The GPU's time: what --time or --window names, else from its first operation to its last. The same in all rows of a GPU."}
  - {name: gpu_idle_ns, type: duration, unit: ns, doc: "Part of gpu_window_ns in which nothing at all ran on the GPU. The same in all rows of a GPU: not to be added up."}
  - {name: gpu_no_kernel_ns, type: duration, unit: ns, doc: "Part of gpu_window_ns in which no kernel ran: gpu_idle_ns, and copies and fills by themselves. The same in all rows of a GPU."}
checks:
  - busy_ns + gap_ns = span_ns
  - gap_idle_ns BETWEEN 0 AND gap_ns
  - gpu_idle_ns <= gpu_no_kernel_ns AND gpu_no_kernel_ns <= gpu_window_ns
  - (gap_count = 0) = (max_ns IS NULL)
limits: >-
  A gap of one stream is no idle GPU: while it lasts, other streams may work. So gap_ns of several streams adds up to
  more than any GPU idled, and gap_idle_ns counts idle time once for each stream that waited. The GPU's own idle time is
  gpu_idle_ns. Operations that reach over an end of --time count whole in gaps and streams; the GPU's columns end where
  the time does. With --device, --stream, --process or --nvtx what is out of the scope did not run; gap_idle_ns alone
  knows of it. CUDA graphs traced as a whole fill the GPU's time, and are in no stream's row.
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
used AS (
  SELECT global_pid, device_id, gpu_id
  FROM process_device
  LIMIT -1
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
  JOIN used
    ON used.device_id IS NOT DISTINCT FROM gap.device_id
    AND used.global_pid IS NOT DISTINCT FROM gap.global_pid
  LEFT JOIN all_gpu_window AS gpu
    ON gpu.start_ns = gap.start_ns
    AND gpu.end_ns = gap.end_ns
    AND gpu.gpu_id = used.gpu_id
  WHERE gap.among = iif(:memory, 'op', 'kernel')
  GROUP BY gap.global_pid, gap.device_id, gap.context_id, gap.stream_id
)
SELECT
  stream.pid,
  used.gpu_id,
  stream.device_id,
  stream.context_id,
  stream.stream_id,
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
