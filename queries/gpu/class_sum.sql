/*---
name: class_sum
version: 1
title: GPU time by class of work
summary: GPU time per class of kernels, largest total first.
why: To see what kind of work fills the GPU - matrix products, attention, communication - before looking at kernels.
kind: sum
tags: [classes, cuda, kernel]
reads: [gpu_overlap, scope]
requires: [gpu_overlap]
params:
  - {name: ops, type: enum, values: [kernels, all], default: kernels, doc: "kernels, or all: copies and fills without a kernel, and whole graphs, too."}
columns:
  - {name: class, type: text, doc: "Class by the map of --classes; others if no rule matches."}
  - {name: names, type: int, unit: count, doc: "Distinct names of operations."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; operations that overlap count in full."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which a GPU ran at least one of them, added up over GPUs; overlaps count once."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
checks:
  - names BETWEEN 1 AND calls
  - busy_ns <= total_ns AND busy_ns >= 0
  - time_pct BETWEEN 0 AND 100
limits: >-
  Classes may run at the same time, so busy_ns does not add up to the time in which the GPU was busy. With --time
  busy_ns ends where the window does, total_ns does not. Kernels of a CUDA graph that was traced as a whole are not in it.
  With ops=all copies, fills and such graphs stand in the class that the map has for their names: memcpy, memset
  and cuda_graph by default.
see_also: [kernel_classes, nccl_sum, cuda_gpu_sum]
---*/
WITH
-- A class is looked up for each row: what a name means is remembered.
classed AS (
  SELECT
    op_class(op_name) AS class,
    gpu_id,
    op_name,
    dur_ns,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  WHERE :ops = 'all' OR op_kind = 'kernel'
),
by_gpu AS (
  SELECT class, gpu_id, count(*) AS calls, sum(dur_ns) AS total_ns, busy_ns(from_ns, to_ns) AS busy_ns
  FROM classed
  GROUP BY class, gpu_id
),
by_name AS (
  SELECT class, count(*) AS names
  FROM (SELECT DISTINCT class, op_name FROM classed)
  GROUP BY class
)
SELECT
  by_gpu.class,
  by_name.names,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(busy_ns) AS busy_ns,
  100.0 * sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS time_pct
FROM by_gpu
JOIN by_name
  ON by_name.class = by_gpu.class
GROUP BY by_gpu.class
ORDER BY total_ns DESC, by_gpu.class
