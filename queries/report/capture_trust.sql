/*---
name: capture_trust
version: 1
title: What the capture does not show
summary: What is missing from the capture or distorts its figures, worst first.
why: To know how far to trust the other answers, and how to record better next time.
kind: info
tags: [capture, cuda, gpu, nvtx]
reads:
  - import_doubt
  - launch_doubt
  - link_doubt
  - mean_doubt
  - message_doubt
  - overhead_doubt
  - range_doubt
  - rank_doubt
  - recording_doubt
  - sharing_doubt
  - time_doubt
  - work_doubt
requires: [gpu_op | graph_trace | cuda_call | nvtx_range | doubtful_op]
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank, from 1; 1 matters most."}
  - {name: severity, type: text, priority: 1, doc: "partial: part of the work is not seen, or may not be; distorted: the capture itself took time; note: a limit to know."}
  - {name: problem, type: text, priority: 0, doc: "What is missing or distorted."}
  - {name: detail, type: text, priority: 0, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, priority: 1, doc: "How to record it better."}
when_empty: "nothing that the report shows makes its figures doubtful"
limits: >-
  Only problems that show in the report: events that were dropped without a trace are not among them. nsys often warns
  that events may be missing although none are. The time of a push and a pop is an estimate: see the relation recording_cost.
see_also: [report_info, nvtx_coverage, api_errors]
---*/
WITH
-- Each relation has the problems of one subject. `priority` is their order. Its hundreds say what a problem does:
-- 100: figures lack work, or are wrong.
-- 200: a kind of event was not recorded, or may not have been.
-- 300: times are not those of the program without the profiler, or without other processes.
-- 400: a limit to know.
problem AS (
  SELECT * FROM launch_doubt
  UNION ALL
  SELECT * FROM work_doubt
  UNION ALL
  SELECT * FROM import_doubt
  UNION ALL
  SELECT * FROM link_doubt
  UNION ALL
  SELECT * FROM time_doubt
  UNION ALL
  SELECT * FROM mean_doubt
  UNION ALL
  SELECT * FROM range_doubt
  UNION ALL
  SELECT * FROM message_doubt
  UNION ALL
  SELECT * FROM overhead_doubt
  UNION ALL
  SELECT * FROM recording_doubt
  UNION ALL
  SELECT * FROM sharing_doubt
  UNION ALL
  SELECT * FROM rank_doubt
)
SELECT row_number() OVER (ORDER BY priority, problem, detail) AS rank, severity, problem, detail, remedy
FROM problem
ORDER BY rank
