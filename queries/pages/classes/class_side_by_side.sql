/*---
name: class_side_by_side
version: 1
title: GPU time by class, side by side
summary: GPU time of each class in each report, with that of the first report.
why: To see which kind of work makes one run slower than another.
kind: sum
tags: [classes, cuda, gpu, kernel, memory]
internal: true
reads: []
asks: [class_figures, class_iterations]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
columns:
  - {name: section, type: text, priority: 0, doc: "Section of class_figures: total, kernel, communication, memory or estimate."}
  - {name: class, type: text, priority: 0, doc: "Class of kernels, operation, or part of the iterations."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: is_per_iteration, type: bool, label: "per iteration", priority: 3, doc: "Whether value_ns is per iteration and GPU, because the iterations of all reports are known; else it is the total."}
  - {name: value_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time of the class; null if the report has none."}
  - {name: first_ns, type: duration, unit: ns, label: "time in the first report", priority: 1, doc: "Time of the class in the first report; null if it has none."}
limits: >-
  Classes come in the order of the first report that has them, after those of its section that an earlier one has. Rows are not matched by what kernels compute: another map,
  or kernels with other names, can move time from one class to another.
see_also: [class_figures]
---*/
WITH
figure AS (
  SELECT *, rowid AS rank
  FROM class_figures
  WHERE section <> 'measured'
),
compared AS (
  SELECT section, class, min(rank) AS rank
  FROM figure
  GROUP BY section, class
),
unit AS (
  SELECT min(divisor IS NOT NULL) AS is_per_iteration
  FROM class_iterations
),
cell AS (
  SELECT
    compared.section,
    compared.class,
    compared.rank,
    iteration.report,
    iteration.side,
    unit.is_per_iteration,
    iif(unit.is_per_iteration, figure.per_iteration_ns, figure.total_ns) AS value_ns
  FROM compared
  CROSS JOIN unit
  CROSS JOIN class_iterations AS iteration
  LEFT JOIN figure
    ON figure.side = iteration.side
    AND figure.section = compared.section
    AND figure.class = compared.class
)
SELECT
  section,
  class,
  report,
  side,
  is_per_iteration,
  value_ns,
  first_value(value_ns) OVER (PARTITION BY section, class ORDER BY side) AS first_ns
FROM cell
ORDER BY instr('total kernel communication memory estimate', section), rank, side
