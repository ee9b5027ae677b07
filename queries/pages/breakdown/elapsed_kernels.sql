/*---
name: elapsed_kernels
version: 1
title: Longest operations of each class
summary: The longest operations of each class, on all GPUs and on each GPU.
why: To see what makes up a class, without a row for every kernel.
kind: sum
tags: [classes, cuda, gpu, kernel]
internal: true
reads: []
asks: [elapsed_operations]
across: true
params:
  - {name: elapsed, type: duration, doc: "How long the run took without the profiler; the span of the capture if not set."}
  - {name: idle_counts, type: bool, default: true, doc: "Count the time without GPU work up to the span of the capture, if elapsed is not set."}
  - {name: merge_devices, type: bool, default: false, doc: "Leave out the times of single GPUs."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs traced as a whole; false leaves them out."}
  - {name: operations, type: int, default: 480, min: 1, doc: "Most operations of all reports and classes together. Each class has at least 3."}
  - {name: most_gpus, type: int, default: 8, min: 0, doc: "Most GPUs for which times of each are given. A report with more has only the time on all GPUs."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: class, type: text, priority: 0, doc: "Class of GPU work."}
  - {name: class_rank, type: int, priority: 3, doc: "Rank of the class by its time in all reports, from 1."}
  - {name: class_ns, type: duration, unit: ns, label: "time of class", priority: 3, doc: "Elapsed time of the class on all GPUs of the report."}
  - {name: class_pct, type: percent, unit: percent, label: "class % of busy time", priority: 3, doc: "class_ns as a share of the busy time."}
  - {name: name_count, type: int, unit: count, label: "names", priority: 3, doc: "Names of operations in the class."}
  - {name: left_out_count, type: int, unit: count, label: "names left out", priority: 3, doc: "Names that have no row."}
  - {name: left_out_ns, type: duration, unit: ns, label: "time left out", priority: 3, doc: "Elapsed time of the names that have no row."}
  - {name: rule_rank, type: int, priority: 3, doc: "Rank of the first operation in the class that the same rule decided."}
  - {name: class_rule, type: text, label: "rule", doc: "Rule of the class map that decided; null if no rule did."}
  - {name: op_rank, type: int, label: "rank", priority: 3, doc: "Rank of the operation within its class, from 1."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "Name of the operations."}
  - {name: op_kind, type: text, label: "kind", priority: 3, doc: "Kind of operation: kernel, memcpy, memset or graph."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions on all GPUs."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times on all GPUs."}
  - {name: busy_pct, type: percent, unit: percent, label: "share of busy time", priority: 1, doc: "Elapsed time on all GPUs as a share of the busy time."}
  - {name: class_others, type: text, label: "other classes", doc: "Other classes, from later rules that match too; null if there are none."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number; null for all GPUs."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Elapsed time on the GPU, or on all GPUs; null if none of the operations ran there."}
checks:
  - left_out_count BETWEEN 0 AND name_count
limits: >-
  See elapsed_operations, which has a row for every operation.
see_also: [elapsed_operations, gpu_elapsed]
---*/
WITH
bar AS (
  SELECT
    report_rank,
    bar_rank,
    gpu_id,
    row_number() OVER (PARTITION BY report_rank ORDER BY bar_rank) = 1 AS is_whole,
    count(*) OVER (PARTITION BY report_rank) - 1 AS gpu_count
  FROM elapsed_operations
  GROUP BY bar_rank
),
ranked AS (
  SELECT
    operation.*,
    rank AS op_rank,
    sum(elapsed_ns) OVER (PARTITION BY bar_rank, class_rank) AS class_ns,
    count(*) OVER (PARTITION BY bar_rank, class_rank) AS name_count
  FROM elapsed_operations AS operation
  JOIN bar USING (bar_rank)
  WHERE bar.is_whole AND operation.is_gpu
),
listed AS (
  SELECT
    *,
    min(op_rank) OVER (PARTITION BY bar_rank, class_rank, class_rule) AS rule_rank,
    count(*) OVER (PARTITION BY bar_rank, class_rank) AS listed_count,
    sum(elapsed_ns) OVER (PARTITION BY bar_rank, class_rank) AS listed_ns
  FROM ranked
  WHERE op_rank <= max(3, :operations / (SELECT count(*) FROM (SELECT DISTINCT bar_rank, class_rank FROM ranked)))
)
SELECT
  listed.report,
  listed.class,
  listed.class_rank,
  class_ns,
  coalesce(100.0 * class_ns / nullif(listed.bar_busy_ns, 0), 0.0) AS class_pct,
  name_count,
  name_count - listed_count AS left_out_count,
  class_ns - listed_ns AS left_out_ns,
  rule_rank,
  listed.class_rule,
  op_rank,
  listed.op_name,
  listed.op_kind,
  listed.calls,
  listed.total_ns,
  coalesce(100.0 * listed.elapsed_ns / nullif(listed.bar_busy_ns, 0), 0.0) AS busy_pct,
  listed.class_others,
  bar.gpu_id,
  here.elapsed_ns
FROM listed
JOIN bar
  ON bar.report_rank = listed.report_rank
  AND (bar.is_whole OR bar.gpu_count <= :most_gpus)
LEFT JOIN elapsed_operations AS here
  ON here.bar_rank = bar.bar_rank
  AND here.op_kind = listed.op_kind
  AND here.op_name = listed.op_name
ORDER BY listed.report_rank, listed.class_rank, rule_rank, op_rank, bar.bar_rank
