/*---
name: module_time
version: 2
title: GPU time by PyTorch module
summary: GPU time of each nn.Module, or class of modules, alone and with modules inside.
why: To see which module of the model takes the GPU's time, forward and backward.
kind: sum
tags: [cuda, gpu, kernel]
reads: [frame_time]
params:
  - {name: by, type: enum, values: [module, class], default: module, doc: "module: one row per module, such as Linear_0; class: one row per class of modules, such as Linear."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all. The rest is one row, and so is work outside all modules."}
columns:
  - {name: module_name, type: text, label: "module", priority: 0, doc: "Module, such as Linear_0: PyTorch numbers the modules of a class. With by=class, the class. (further modules) for those beyond the limit; (outside) for work outside all modules."}
  - {name: module_count, type: int, unit: count, label: "modules", priority: 2, doc: "Modules of the class that launched GPU work; 1 with by=module; null for the last two rows."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Calls of the module that launched GPU work; null for the last two rows."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "GPU operations that the module launched itself, and not a module that it calls."}
  - {name: self_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of their durations."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "self_ns as a share of the sum of all rows."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 2, doc: "Sum of the durations of its kernels. All rows add up to the time of all kernels."}
  - {name: backward_ns, type: duration, unit: ns, label: "backward", priority: 1, doc: "Part of self_ns that its backward operators launched."}
  - {name: total_ns, type: duration, unit: ns, label: "with modules inside", priority: 1, doc: "Sum of the durations of all operations launched in the module or in modules that it calls; null for the last two rows."}
  - {name: outside, type: text, label: "reason", priority: 2, doc: "For (outside): the reason with the most GPU time; otherwise null."}
checks:
  - op_count >= 0 AND self_ns >= kernel_ns AND self_ns >= backward_ns
  - total_ns IS NULL OR total_ns >= self_ns
  - share_pct IS NULL OR share_pct BETWEEN 0 AND 100
when_empty: "no GPU operation was recorded"
limits: >-
  Only PyTorch traces with Python calls (with_stack=True) have modules. self_ns adds up to the whole, total_ns does not.
  Work that runs outside of modules, such as an optimizer or the averaging of gradients, is in (outside).
see_also: [python_line_time, nvtx_tree, phases]
---*/
WITH
-- Those beyond the limit are one row, and so is work outside all modules. Both have no rank.
listed AS (
  SELECT
    *,
    nth IS NULL AS is_outside,
    iif(nth > :limit AND :limit >= 0, NULL, nth) AS rank
  FROM frame_time
  WHERE frame_kind = :by
)
SELECT
  CASE
    WHEN is_outside THEN '(outside)'
    WHEN rank IS NULL THEN '(further modules)'
    ELSE place
  END AS module_name,
  iif(rank IS NULL, NULL, module_count) AS module_count,
  iif(rank IS NULL, NULL, calls) AS calls,
  sum(op_count) AS op_count,
  sum(self_ns) AS self_ns,
  100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER (), 0) AS share_pct,
  sum(kernel_ns) AS kernel_ns,
  sum(backward_ns) AS backward_ns,
  iif(rank IS NULL, NULL, total_ns) AS total_ns,
  max(outside) AS outside
FROM listed
GROUP BY is_outside, rank
ORDER BY is_outside, rank IS NULL, rank
