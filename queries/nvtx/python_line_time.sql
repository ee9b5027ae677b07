/*---
name: python_line_time
version: 1
title: GPU time by Python function
summary: GPU time that each Python function outside of PyTorch's files launched.
why: To go from the GPU's time to a line of your own code.
kind: sum
tags: [cuda, gpu, kernel]
reads: [frame_time]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of functions to return; -1 returns all. The rest is one row, and so is work outside all functions."}
columns:
  - {name: place, type: text, label: "function", priority: 0, doc: "FILE(LINE): FUNCTION, with the line where the function begins. (further functions) for those beyond the limit; (outside) for work that no such function launched."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Calls of the function that launched GPU work; null for the last two rows."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "GPU operations that it launched, itself or through functions of PyTorch."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of their durations."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "gpu_ns as a share of the sum of all rows."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 2, doc: "Sum of the durations of its kernels. All rows add up to the time of all kernels."}
  - {name: backward_ns, type: duration, unit: ns, label: "backward", priority: 1, doc: "Part of gpu_ns that backward operators of its forward operators launched."}
  - {name: outside, type: text, label: "reason", priority: 2, doc: "For (outside): the reason with the most GPU time; otherwise null."}
checks:
  - op_count >= 0 AND gpu_ns >= kernel_ns AND gpu_ns >= backward_ns
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
when_empty: "no GPU operation was recorded"
limits: >-
  Only traces with Python calls (with_stack=True) have functions. PyTorch records the line where a function begins, not
  the line that ran. Files in a folder torch are PyTorch's own. A file of another library, such as triton, counts.
see_also: [module_time, host_work, nvtx_tree]
---*/
WITH
-- Those beyond the limit are one row, and so is work outside all functions. Both have no rank.
listed AS (
  SELECT
    *,
    nth IS NULL AS is_outside,
    iif(nth > :limit AND :limit >= 0, NULL, nth) AS rank
  FROM frame_time
  WHERE frame_kind = 'function'
)
SELECT
  CASE
    WHEN is_outside THEN '(outside)'
    WHEN rank IS NULL THEN '(further functions)'
    ELSE place
  END AS place,
  iif(rank IS NULL, NULL, calls) AS calls,
  sum(op_count) AS op_count,
  sum(self_ns) AS gpu_ns,
  100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER (), 0) AS share_pct,
  sum(kernel_ns) AS kernel_ns,
  sum(backward_ns) AS backward_ns,
  max(outside) AS outside
FROM listed
GROUP BY is_outside, rank
ORDER BY is_outside, rank IS NULL, rank
