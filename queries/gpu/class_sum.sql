/*---
name: class_sum
version: 1
title: GPU time by class of work
summary: GPU time per class of kernels, largest total first.
why: To see what kind of work fills the GPU, such as matrix products or communication, before looking at kernels.
kind: sum
tags: [classes, cuda, kernel]
reads: [gpu_overlap, scope]
requires: [gpu_overlap]
params:
  - {name: ops, type: enum, values: [kernels, all], default: kernels, doc: "Operations to count: kernels; or all, which adds copies and fills that run without a kernel, and CUDA graphs traced as a whole."}
columns:
  - {name: class, type: text, priority: 0, doc: "Class from the class map of --classes; others if no rule matches; cuda_graph for a CUDA graph traced as a whole."}
  - {name: names, type: int, unit: count, priority: 3, doc: "Number of different operation names."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping operations count in full."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a GPU ran at least one operation of the class, added up over GPUs; overlaps count once."}
  - {name: time_pct, type: percent, unit: percent, label: "share of total", priority: 1, doc: "total_ns as a share of the sum over all rows."}
checks:
  - names BETWEEN 1 AND calls
  - busy_ns <= total_ns AND busy_ns >= 0
  - time_pct BETWEEN 0 AND 100
when_empty: "no kernel was recorded; -p ops=all also counts copies, fills and CUDA graphs traced as a whole"
limits: >-
  Classes can run at the same time, so busy_ns does not add up to the time in which the GPU was busy. --time cuts
  busy_ns to the window, but not total_ns; under --window, operations count whole in both. Kernels of a CUDA graph
  traced as a whole are not included. With ops=all, a graph traced as a whole has the class cuda_graph, whatever the
  class map. Copies and fills have the class that the map gives to their names, by default memcpy and memset.
see_also: [kernel_classes, nccl_sum, cuda_gpu_sum]
---*/
WITH
-- Look up each name and its class once, by the name's ID.
name AS (
  SELECT op_kind, name_id, min(op_id) AS any_op_id
  FROM gpu_overlap
  WHERE :ops = 'all' OR op_kind = 'kernel'
  GROUP BY op_kind, name_id
),
named_class AS MATERIALIZED (
  SELECT
    name.op_kind,
    name.name_id,
    CASE name.op_kind
      WHEN 'graph' THEN 'cuda_graph'
      ELSE op_class(
        (
          SELECT op_name
          FROM gpu_overlap
          WHERE gpu_overlap.op_kind = name.op_kind
            AND gpu_overlap.op_id = name.any_op_id
        )
      )
    END AS class
  FROM name
),
classed AS (
  SELECT
    named_class.class,
    overlap.name_id,
    overlap.gpu_id,
    overlap.dur_ns,
    max(overlap.start_ns, coalesce(scope.start_ns, overlap.start_ns)) AS from_ns,
    min(overlap.end_ns, coalesce(scope.end_ns, overlap.end_ns)) AS to_ns
  FROM gpu_overlap AS overlap
  CROSS JOIN scope
  JOIN named_class
    ON named_class.op_kind = overlap.op_kind
    AND named_class.name_id = overlap.name_id
),
by_gpu AS (
  SELECT class, gpu_id, count(*) AS calls, sum(dur_ns) AS total_ns, busy_ns(from_ns, to_ns) AS busy_ns
  FROM classed
  GROUP BY class, gpu_id
),
by_name AS (
  SELECT class, count(DISTINCT name_id) AS names
  FROM named_class
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
