/*---
name: job_doubts
version: 1
title: Doubts about the reports
summary: How many reports of a job lack GPU work.
why: To know what the comparison of ranks rests on.
kind: info
tags: [capture, gpu]
internal: true
reads: []
asks: [rank_doubts]
across: true
columns:
  - {name: report_count, type: int, unit: count, label: "reports", priority: 0, doc: "Reports with GPU work."}
  - {name: sampled_count, type: int, unit: count, label: "sampled", priority: 0, doc: "Reports whose trace is a sample: most of its calls are missing."}
  - {name: unseen_count, type: int, unit: count, label: "with unseen work", priority: 0, doc: "Reports in which a GPU worked for a tenth of the time or more on what is not in the report."}
  - {name: unseen_pct, type: percent, unit: percent, label: "most unseen", priority: 1, doc: "Largest of these shares of a report."}
checks:
  - sampled_count <= report_count
when_empty: "no GPU operation was recorded"
limits: See capture_trust for each report.
see_also: [capture_trust]
---*/
SELECT
  count(*) AS report_count,
  sum(is_sampled) AS sampled_count,
  sum(CASE WHEN unseen_pct >= 10 THEN 1 ELSE 0 END) AS unseen_count,
  max(unseen_pct) AS unseen_pct
FROM rank_doubts
HAVING count(*) > 0
ORDER BY report_count
