/*---
name: kernel_classes
version: 1
title: Kernels and their classes
summary: Which class each kernel fell in, by which rule, and what else would match.
why: To check a class map against a report - what nothing took stands first, and two rules may want the same kernel.
kind: sum
tags: [classes, cuda, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: class, type: text, default: null, doc: "Only this class, such as others; null for all."}
columns:
  - {name: class, type: text, doc: "Class by the map of --classes; others if no rule matches."}
  - {name: activity, type: text, doc: "compute or communication, by the name's grammar, whatever the map says."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all kernels, listed or not."}
  - {name: class_rule, type: text, doc: "Pattern of the rule that decided, the first that matches; null for others."}
  - {name: class_also, type: text, doc: "Later rules that match too and mean another class, as class (pattern); null if none."}
  - {name: kernel_name, type: text, doc: "Demangled name of the kernel, which the rules are held against."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
limits: >-
  A class is what a map says by the name alone. Kernels of a CUDA graph that was traced as a whole are not in it.
see_also: [class_sum, nccl_sum, top_kernels]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
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
