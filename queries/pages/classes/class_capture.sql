/*---
name: class_capture
version: 2
title: What sums of GPU time are divided by
summary: The kernels and GPUs of a report, and what is known of its iterations.
why: To turn sums of a capture into figures per iteration and GPU.
kind: info
tags: [classes, cuda, gpu, kernel]
internal: true
reads: [gpu_busy, gpu_window, kernel, scope, step_window]
requires: [gpu_busy, kernel]
params:
  - {name: tag, type: text, doc: "Name of the NVTX ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
columns:
  - {name: tag, type: text, priority: 0, doc: "Name of the ranges that are iterations; null if none is given."}
  - {name: given_iterations, type: int, unit: count, label: "iterations given", priority: 1, doc: "The parameter iterations."}
  - {name: given_gpus, type: int, unit: count, label: "GPUs given", priority: 1, doc: "The parameter gpus."}
  - {name: tagged_only, type: bool, priority: 3, doc: "Whether the sums cover only work that the tagged ranges launched."}
  - {name: has_memory, type: bool, label: "copies counted", priority: 3, doc: "Whether copies and fills are counted."}
  - {name: by_thread, type: bool, priority: 3, doc: "Whether a range holds only what its own thread launched, as without --attribute."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 1, doc: "GPUs that ran kernels; null if not known."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Kernels in the scope; null if not known."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Sum of the execution times of these kernels; null if not known."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps of each thread that has any; null without steps, or if threads differ."}
  - {name: step_found, type: text, priority: 3, doc: "marked or repeated, as in steps; null without steps."}
  - {name: has_only_steps, type: bool, label: "only steps", priority: 3, doc: "Whether steps, from the first to the last, take 95 % of the window of each GPU that has any; null without steps."}
  - {name: outside_count, type: int, unit: count, label: "launches outside", priority: 3, doc: "Launches outside all ranges; null if not known."}
checks:
  - gpu_count >= 0 AND kernel_count >= 0 AND kernel_ns >= 0
limits: >-
  The parameters are taken as they are. `nsq classes` asks this query in a scope without --iter, and the sums within it.
see_also: [class_iterations, class_figures]
---*/
WITH
counted AS MATERIALIZED (
  SELECT global_tid, gpu_id, found, count(*) AS n, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM step_window
  WHERE step_count > 1
  GROUP BY global_tid, gpu_id
),
inside AS (
  SELECT counted.gpu_id, max(counted.end_ns) - min(counted.start_ns) AS steps_ns, gpu_window.window_ns
  FROM counted
  JOIN gpu_window
    ON gpu_window.gpu_id = counted.gpu_id
  GROUP BY counted.gpu_id
)
SELECT
  :tag AS tag,
  :iterations AS given_iterations,
  :gpus AS given_gpus,
  :tagged_only AS tagged_only,
  :memory AS has_memory,
  (SELECT attribution = 'thread' FROM scope) AS by_thread,
  (
    SELECT count(DISTINCT gpu_id)
    FROM gpu_busy
    WHERE level = 'gpu'
      AND activity IN ('compute', 'communication')
  ) AS gpu_count,
  count(*) AS kernel_count,
  coalesce(sum(dur_ns), 0) AS kernel_ns,
  (SELECT iif(min(n) = max(n), min(n), NULL) FROM counted) AS step_count,
  (SELECT min(found) FROM counted) AS step_found,
  (SELECT min(inside.steps_ns >= 0.95 * inside.window_ns) FROM inside) AS has_only_steps,
  NULL AS outside_count
FROM kernel
