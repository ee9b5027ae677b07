/*---
name: finding_methods
version: 2
title: How findings are computed
summary: What each finding reads, and what its replay changes.
why: To check a finding.
kind: info
internal: true
tags: [cuda, gpu]
reads: []
asks: [{kind: finding}, captured, findings]
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding."}
  - {name: title, type: text, priority: 1, doc: "Its title."}
  - {name: reads, type: text, priority: 1, doc: "Relations that its SQL reads, separated by commas."}
  - {name: edit, type: text, priority: 1, doc: "What a perfect fix changes in the replay, one edit a line, as in the relation replayed_window; @ stands for the finding's intervals."}
  - {name: avoid, type: text, priority: 2, doc: "The same for a program without the operations; empty if the fix does not hide any."}
limits: See findings.
---*/
SELECT
  findings.rank,
  findings.finding,
  finding_about.title,
  finding_about.reads,
  iif(
    (SELECT max(is_pytorch) FROM captured),
    replace(finding_about.edit, 'launch=graph', 'launch=graph:*::*'),
    finding_about.edit
  ) AS edit,
  finding_about.avoid
FROM findings
JOIN finding_about
  ON finding_about.query = findings.finding
ORDER BY findings.rank
