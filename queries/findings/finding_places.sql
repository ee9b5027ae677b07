/*---
name: finding_places
version: 1
title: Places of the findings
summary: The range path, thread and step of each finding's time, by time.
why: To know which part of the program to change.
kind: sum
tags: [cuda, gpu, nvtx]
reads: []
asks: [finding_intervals, {query: interval_places, given: {intervals: finding_intervals}}]
params:
  - {name: finding, type: text, default: "", doc: "Name of a finding; empty for those of number."}
  - {name: number, type: int, default: 0, min: 0, doc: "Rank of a finding, as in findings; 0 for all whose fix gains time."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding."}
  - {name: range_path, type: text, label: "range", priority: 0, doc: "NVTX ranges around the launch, from the outermost to the innermost, joined by ' / ', each number replaced by *; null outside all ranges. For an idle interval, the launch of the operation after it; otherwise of the operation in it."}
  - {name: tid, type: id, label: "thread", priority: 0, doc: "Operating system ID of the thread that launched it; null if unknown."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Time of the finding's intervals there, each cut to its GPU's window."}
  - {name: time_pct, type: percent, unit: percent, label: "% of finding", priority: 1, doc: "total_ns as a share of all intervals of the finding."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 1, doc: "Intervals there."}
  - {name: top_subject, type: text, priority: 1, doc: "Subject with the most of this time, as in the rows of the finding."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps that have these intervals; 0 without steps."}
  - {name: top_step, type: int, label: "most in step", priority: 2, doc: "Number of the step with the most of this time, as in steps; null without steps."}
  - {name: top_step_ns, type: duration, unit: ns, label: "time in that step", priority: 2, doc: "Time of the intervals there in that step; null without steps."}
  - {name: main_path, type: text, label: "half is in", priority: 3, doc: "Of the whole finding: the innermost range path that has, with those below it, half of its time or more; null if there is none."}
  - {name: main_path_pct, type: percent, unit: percent, label: "share there", priority: 3, doc: "Share of the finding's time in main_path."}
checks:
  - total_ns >= 0
  - top_step_ns <= total_ns
limits: >-
  A finding without intervals has no rows; of more than 100,000, those count that are as long as the 100,000th longest. Intervals that overlap count each.
  An interval belongs to the step in which it starts. Steps of several threads on one GPU are not distinguished.
see_also: [findings, critical_path, nvtx_tree]
---*/
SELECT
  rank,
  finding,
  range_path,
  tid,
  total_ns,
  time_pct,
  interval_count,
  top_subject,
  step_count,
  top_step,
  top_step_ns,
  main_path,
  main_path_pct
FROM interval_places
ORDER BY rank, total_ns DESC, range_path, tid
