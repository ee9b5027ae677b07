/*---
name: kernel_classes
version: 1
title: Kernels and their classes
summary: Class of each kernel, the rule that decided, and other rules that match.
why: To check a class map against a report. Kernels that no rule matches come first.
kind: sum
tags: [classes, cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: class, type: text, default: null, doc: "Only this class, such as others; null selects all classes."}
columns:
  - {name: class, type: text, priority: 0, doc: "Class from the class map of --classes; others if no rule matches."}
  - {name: activity, type: text, priority: 3, doc: "Kind of work: compute or communication, from the grammar of the name, whatever the class map."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of all kernels, including kernels that are not listed."}
  - {name: class_rule, type: text, label: "rule", doc: "Pattern of the rule that decided, the first that matches; null for others."}
  - {name: class_also, type: text, label: "other matches", doc: "Later rules that match too and give another class, as class (pattern); null if there are none."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled kernel name, which the rules are matched against."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
when_empty: "no kernel has this class; without -p class, the rows show every class"
limits: >-
  The class comes from the name alone. Kernels of a CUDA graph traced as a whole are not included.
see_also: [class_sum, nccl_sum, top_kernels]
---*/
WITH
-- Group by name ID, not text: it is many times faster.
by_name AS (
  SELECT name_id, count(*) AS calls, sum(dur_ns) AS total_ns
  FROM kernel
  GROUP BY name_id
),
named AS (
  SELECT
    *,
    100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
    (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM by_name
),
classed AS (
  SELECT *, coalesce(op_class(kernel_name), 'others') AS class
  FROM named
)
SELECT
  class,
  op_activity(kernel_name) AS activity,
  calls,
  total_ns,
  time_pct,
  op_class_rule(kernel_name) AS class_rule,
  op_class_also(kernel_name) AS class_also,
  kernel_name
FROM classed
WHERE :class IS NULL OR class = :class
ORDER BY class <> 'others', total_ns DESC, calls DESC, kernel_name, name_id
