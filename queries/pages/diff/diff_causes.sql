/*---
name: diff_causes
version: 2
title: Where the change of the step comes from
summary: What binds a step in A and in B. The changes add up to that of the step.
why: To see which causes explain a longer step, and how much nothing explains.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_explained]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent: with 99, at most 1 of 100 comparisons of equal work finds a change."}
columns:
  - {name: cause, type: text, priority: 0, doc: "compute, communication, copies, host code, CUDA calls, launches, waits, stalls or unexplained."}
  - {name: name, type: text, priority: 0, doc: "Class of the kernels; the innermost range of what host code launches next; function of a call; else null."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Time on the critical path of a step of A: mean over steps, GPUs and runs."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "b_ns - a_ns. All rows add up to the change of the step in diff_whole, to the nanosecond."}
  - {name: change_pct, type: percent, unit: percent, label: "share of the step's change", priority: 1, doc: "change_ns as a share of the step's change; null if that is 0."}
  - {name: is_new, type: bool, label: "new", priority: 2, doc: "Whether only B has it."}
checks:
  - change_ns = b_ns - a_ns
when_empty: "a side has no steps"
limits: >-
  What is on the path hides nothing, but another path can be nearly as long. No noise is known for a cause.
see_also: [diff_explained, diff_whole, what_if]
---*/
SELECT
  cause,
  name,
  sum(a_ns) AS a_ns,
  sum(b_ns) AS b_ns,
  sum(change_ns) AS change_ns,
  sum(change_pct) AS change_pct,
  sum(b_ns) > 0 AND sum(a_ns) = 0 AS is_new
FROM diff_explained
GROUP BY cause, name
ORDER BY abs(sum(change_ns)) DESC, cause, name
