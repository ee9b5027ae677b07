/*---
name: class_seed_sums
version: 1
title: GPU time by class, as the tools before nsq add it up
summary: Milliseconds and counts of each class, with counts per iteration rounded down.
why: To compare with figures of GPU_kernel_info_statistic and GPU Performance Analyser.
kind: sum
tags: [classes, cuda, kernel, memory]
internal: true
reads: []
asks: [class_capture, class_iterations, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
  - {name: classes, type: list, doc: "The classes of kernels other than nccl, in the order of their rows."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: block, type: text, priority: 0, doc: "kernel, nccl or memory."}
  - {name: block_rank, type: int, priority: 3, doc: "Position of the block, from 1."}
  - {name: class, type: text, priority: 0, doc: "Class of kernels, or operation; null for the whole block."}
  - {name: iteration_ms, type: real, label: "ms per iteration", priority: 1, doc: "Time per iteration and GPU, in ms."}
  - {name: iteration_count, type: int, unit: count, label: "count per iteration", priority: 1, doc: "Instances per iteration and GPU, rounded down for each kernel name before they are added up."}
  - {name: iteration_pct, type: percent, unit: percent, label: "share of iteration", priority: 1, doc: "iteration_ms as a share of the block; null if that is 0."}
  - {name: total_ms, type: real, label: "total ms", priority: 1, doc: "Time, in ms."}
  - {name: count, type: int, unit: count, priority: 1, doc: "Instances."}
  - {name: total_pct, type: percent, unit: percent, label: "share of total", priority: 1, doc: "total_ms as a share of the block; null if that is 0."}
checks:
  - total_ms >= 0 AND count >= 0
limits: >-
  It needs the class map of these tools, in which every name that contains nccl has the class nccl. The operation of
  a kernel is the part of its name between the first two underscores.
see_also: [class_figures, class_seed_windows]
---*/
WITH
divided AS (
  SELECT
    side,
    capture.has_memory,
    max(coalesce(given_iterations, window_count) * coalesce(given_gpus, 1), 1) AS divisor
  FROM class_capture AS capture
  JOIN class_iterations USING (side)
),
classified AS (
  SELECT
    side,
    op_class(coalesce(kernel_name, '')) AS class,
    substr(kernel_name, instr(kernel_name, '_') + 1) || '_' AS after_underscore,
    instr(kernel_name, '_') > 0 AS has_underscore,
    total_ns,
    calls,
    rowid AS rank
  FROM cuda_gpu_kern_sum
),
instance AS (
  SELECT side, 'kernel' AS block, class, total_ns, calls, rank
  FROM classified
  WHERE class <> 'nccl'
  UNION ALL
  SELECT
    side,
    'nccl' AS block,
    iif(has_underscore, substr(after_underscore, 1, instr(after_underscore, '_') - 1), 'unknown') AS class,
    total_ns,
    calls,
    rank
  FROM classified
  WHERE class = 'nccl'
  UNION ALL
  SELECT side, 'memory' AS block, coalesce(op_name, '') AS class, total_ns, calls, rowid AS rank
  FROM cuda_gpu_mem_time_sum
),
-- Every class has a row, and every block has one for all of its classes.
row (side, block, block_rank, class, place) AS (
  SELECT side, block, block_rank, NULL, -1
  FROM divided
  JOIN (SELECT 'kernel' AS block, 1 AS block_rank UNION ALL SELECT 'nccl', 2 UNION ALL SELECT 'memory', 3)
  WHERE block <> 'memory' OR has_memory
  UNION ALL
  SELECT side, 'kernel', 1, value, key
  FROM divided
  JOIN json_each(:classes)
  UNION ALL
  SELECT side, block, iif(block = 'nccl', 2, 3), class, min(rank)
  FROM instance
  JOIN divided USING (side)
  WHERE block = 'nccl' OR block = 'memory' AND has_memory
  GROUP BY side, block, class
),
summed AS (
  SELECT
    row.*,
    coalesce(sum(1.0 * total_ns / divisor), 0.0) AS iteration_ns,
    coalesce(sum(calls / divisor), 0) AS iteration_count,
    coalesce(sum(1.0 * total_ns), 0.0) AS total_ns,
    coalesce(sum(calls), 0) AS count
  FROM row
  JOIN divided USING (side)
  LEFT JOIN instance
    ON instance.side = row.side
    AND instance.block = row.block
    AND (row.class IS NULL OR instance.class = row.class)
  GROUP BY row.side, row.block, row.class
)
SELECT
  capture.report,
  capture.side,
  summed.block,
  summed.block_rank,
  summed.class,
  summed.iteration_ns * 1e-6 AS iteration_ms,
  summed.iteration_count,
  summed.iteration_ns / nullif(whole.iteration_ns, 0.0) * 100.0 AS iteration_pct,
  summed.total_ns * 1e-6 AS total_ms,
  summed.count,
  summed.total_ns / nullif(whole.total_ns, 0.0) * 100.0 AS total_pct
FROM summed
JOIN summed AS whole
  ON whole.side = summed.side
  AND whole.block = summed.block
  AND whole.class IS NULL
JOIN class_capture AS capture
  ON capture.side = summed.side
ORDER BY capture.side, summed.block_rank, summed.place, summed.block, summed.class
