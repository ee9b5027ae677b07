/*---
name: shared_gpu
version: 1
title: Steps that share a GPU
summary: Time of a step in which a GPU runs kernels of other threads or processes.
why: To see that steps wait for other work on the GPU, where the GPU itself never idles.
kind: info
internal: true
tags: [gpu, kernel]
reads: [gpu_stream, gpu_window, judged_step, kernel, launch, string]
requires: [gpu_stream, launch, kernel]
rows_if: "EXISTS (SELECT 1 FROM (SELECT gpu_id, compute_ns, sum(compute_ns) OVER (PARTITION BY gpu_id) AS all_ns FROM gpu_stream) WHERE 50 * compute_ns >= all_ns AND compute_ns > 0 GROUP BY gpu_id HAVING count(*) > 1)"
params:
  - {name: least_pct, type: real, default: 30, min: 0, max: 100, doc: "Smallest share of a step in kernels of others, in percent."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: pid, type: id, priority: 1, doc: "Operating system process ID of the steps."}
  - {name: tid, type: id, label: "thread", priority: 1, doc: "Operating system ID of the thread whose steps take longest in total on this GPU."}
  - {name: step_ns, type: duration, unit: ns, label: "step", priority: 1, doc: "Mean time of its steps."}
  - {name: own_ns, type: duration, unit: ns, label: "own kernels", priority: 0, doc: "Time in a step of compute kernels on the streams on which the thread launches work: their share of the GPU's window, times step_ns."}
  - {name: other_ns, type: duration, unit: ns, label: "kernels of others", priority: 0, doc: "The same of all other streams, also of other processes. Kernels that run together count fully each."}
  - {name: other_pct, type: percent, unit: percent, label: "others, % of step", priority: 1, doc: "other_ns as a share of step_ns; more than 100 where they run together."}
  - {name: is_process, type: bool, priority: 1, doc: "Whether the stream with most of other_ns belongs to another process."}
  - {name: kernel_name, type: text, label: "kernel", priority: 1, doc: "Function with the most time on that stream."}
checks:
  - own_ns >= 0 AND other_ns >= 0
limits: >-
  Threads that launch on one stream, as the thread of a backward pass does, count as one. Kernels in graphs that were
  traced as a whole do not count.
---*/
WITH
stepping AS MATERIALIZED (
  SELECT gpu_id, pid, tid, step_ns
  FROM (
    SELECT
      gpu_id,
      pid,
      tid,
      sum(dur_ns) / count(*) AS step_ns,
      row_number() OVER (PARTITION BY gpu_id ORDER BY sum(dur_ns) DESC, pid, tid) AS nth
    FROM judged_step
    WHERE is_step
    GROUP BY gpu_id, pid, tid
  )
  WHERE nth = 1
    AND tid IS NOT NULL
),
own AS MATERIALIZED (
  SELECT DISTINCT launch.pid, launch.device_id, launch.context_id, launch.stream_id
  FROM launch
  WHERE (launch.pid, launch.tid) IN (SELECT pid, tid FROM stepping)
),
stream AS MATERIALIZED (
  SELECT
    gpu_stream.*,
    (pid, device_id, context_id, stream_id) IN (SELECT pid, device_id, context_id, stream_id FROM own) AS is_own
  FROM gpu_stream
  WHERE compute_ns > 0
),
total AS (
  SELECT gpu_id, sum(iif(is_own, compute_ns, 0)) AS own_ns, sum(iif(is_own, 0, compute_ns)) AS other_ns
  FROM stream
  GROUP BY gpu_id
),
largest AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id ORDER BY compute_ns DESC, pid, context_id, stream_id) AS nth
  FROM stream
  WHERE NOT is_own
),
named AS (
  SELECT
    largest.gpu_id,
    string.text AS name,
    row_number() OVER (PARTITION BY largest.gpu_id ORDER BY sum(kernel.dur_ns) DESC, string.text) AS nth
  FROM largest
  JOIN kernel
    ON kernel.pid = largest.pid
    AND kernel.device_id = largest.device_id
    AND kernel.context_id = largest.context_id
    AND kernel.stream_id = largest.stream_id
  JOIN string
    ON string.string_id = kernel.name_id
  WHERE largest.nth = 1
  GROUP BY largest.gpu_id, kernel.name_id
)
SELECT
  stepping.gpu_id,
  stepping.pid,
  stepping.tid,
  stepping.step_ns,
  CAST(1.0 * total.own_ns / gpu_window.window_ns * stepping.step_ns AS INTEGER) AS own_ns,
  CAST(1.0 * total.other_ns / gpu_window.window_ns * stepping.step_ns AS INTEGER) AS other_ns,
  100.0 * total.other_ns / gpu_window.window_ns AS other_pct,
  largest.pid <> stepping.pid AS is_process,
  named.name AS kernel_name
FROM stepping
JOIN gpu_window
  ON gpu_window.gpu_id = stepping.gpu_id
JOIN total
  ON total.gpu_id = stepping.gpu_id
JOIN largest
  ON largest.gpu_id = stepping.gpu_id
  AND largest.nth = 1
JOIN named
  ON named.gpu_id = stepping.gpu_id
  AND named.nth = 1
WHERE 100.0 * total.other_ns >= :least_pct * gpu_window.window_ns
  AND total.own_ns > 0
ORDER BY stepping.gpu_id
