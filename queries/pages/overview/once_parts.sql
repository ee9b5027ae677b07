/*---
name: once_parts
version: 2
title: What start-up consists of
summary: Parts of the idle time of a GPU on which nothing repeats, most time first.
why: To account for a start-up without leaving out what happens before its first kernels.
kind: info
internal: true
tags: [api, cuda, gpu]
reads: [capture_phase, cuda_call, gpu_window, idle_part]
requires: [cuda_call, gpu_op | graph_trace]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "The GPU: its number on its machine; the CUDA device ordinal if the export has no GPU numbers. The one with the longest window if there are several."}
  - {name: part, type: text, priority: 0, doc: "allocation, code loading, host code, host sync, launch calls, other CUDA calls, queued or unknown: what the launching thread did while the GPU idled. before: from the first CUDA call of its processes to the first operation of the GPU, no part of the window."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Idle time of the GPU in this part. All parts but before add up to its idle time."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 1, doc: "From the first to the last operation of the GPU, the one where that takes longest."}
  - {name: call, type: text, priority: 1, doc: "Function with the most of this time; null outside the CUDA API."}
  - {name: call_ns, type: duration, unit: ns, label: "in that call", priority: 1, doc: "Idle time in it; of before, its time, where threads add up."}
  - {name: next_call, type: text, priority: 2, doc: "Function with the second most time; null if there is none."}
  - {name: next_call_ns, type: duration, unit: ns, label: "in the next call", priority: 2, doc: "Idle time in it."}
checks:
  - total_ns >= 0
  - next_call_ns <= call_ns
limits: Only for captures in which no step repeats. Parts are those of idle_part, with code loading as in jit_and_module_load, of any length.
see_also: [gpu_idle_cause_sum, jit_and_module_load]
---*/
WITH
win AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM gpu_window
  WHERE gpu_id IN (SELECT gpu_id FROM capture_phase WHERE phase = 'once')
  ORDER BY end_ns - start_ns DESC, gpu_id
  LIMIT 1
),
summed AS MATERIALIZED (
  SELECT part, api_name, coalesce(is_first, 0) AS is_first, sum(dur_ns) AS total_ns
  FROM idle_part
  WHERE gpu_id = (SELECT gpu_id FROM win)
  GROUP BY part, api_name, coalesce(is_first, 0)
),
started AS MATERIALIZED (
  SELECT pid, start_ns
  FROM capture_phase
  WHERE phase = 'once'
    AND gpu_id = (SELECT gpu_id FROM win)
),
named AS MATERIALIZED (
  SELECT
    CASE
      WHEN part = 'memory allocation' THEN 'allocation'
      WHEN part = 'launch call' AND is_first THEN 'code loading'
      WHEN part = 'launch call' THEN 'launch calls'
      WHEN part = 'outside CUDA API' THEN 'host code'
      WHEN part <> 'other API call' THEN part
      WHEN api_name GLOB 'cu*ModuleLoad*'
        OR api_name GLOB 'cu*LibraryLoad*'
        OR api_name GLOB 'cuLink*'
        OR api_name GLOB 'hipModuleLoad*'
        OR api_name IN ('cuModuleGetFunction', 'cuLibraryGetKernel', 'cuLibraryGetModule', 'cuKernelGetFunction')
        OR api_name IN ('cudaLibraryGetKernel', 'cudaGetKernel', 'cudaFuncGetAttributes')
        THEN 'code loading'
      ELSE 'other CUDA calls'
    END AS part,
    iif(part = 'launch call' AND is_first, 'first launches', api_name) AS call,
    total_ns
  FROM summed
  UNION ALL
  SELECT 'before', call.api_name, min(call.end_ns, win.start_ns) - call.start_ns
  FROM cuda_call AS call
  JOIN started
    ON started.pid = call.pid
  JOIN win
    ON win.start_ns > call.start_ns
),
by_call AS (
  SELECT
    part,
    call,
    sum(total_ns) AS total_ns,
    row_number() OVER (PARTITION BY part ORDER BY sum(total_ns) DESC, call) AS nth
  FROM named
  GROUP BY part, call
)
SELECT
  win.gpu_id,
  part,
  iif(part = 'before', win.start_ns - (SELECT min(start_ns) FROM started), sum(total_ns)) AS total_ns,
  win.end_ns - win.start_ns AS window_ns,
  max(iif(nth = 1, call, NULL)) AS call,
  max(iif(nth = 1 AND call IS NOT NULL, total_ns, NULL)) AS call_ns,
  max(iif(nth = 2, call, NULL)) AS next_call,
  max(iif(nth = 2 AND call IS NOT NULL, total_ns, NULL)) AS next_call_ns
FROM by_call
CROSS JOIN win
GROUP BY part
ORDER BY 3 DESC, part
