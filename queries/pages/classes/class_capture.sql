/*---
name: class_capture
version: 1
title: What sums of GPU time are divided by
summary: The kernels and GPUs of a report, and what is known of its iterations.
why: To turn sums of a capture into figures per iteration and GPU.
kind: info
tags: [classes, cuda, gpu, kernel]
internal: true
reads: [gpu_busy, kernel, scope]
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
  - {name: outside_count, type: int, unit: count, label: "launches outside", priority: 3, doc: "Launches outside all ranges; null if not known."}
checks:
  - gpu_count >= 0 AND kernel_count >= 0 AND kernel_ns >= 0
limits: >-
  The parameters are taken as they are. `nsq classes` asks this query in a scope without --iter, and the sums within it.
see_also: [class_iterations, class_figures]
---*/
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
  NULL AS outside_count
FROM kernel
