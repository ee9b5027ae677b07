/*---
name: first_rest
version: 1
title: What is left after the first fix
summary: What a step waits for with the first fix alone, in one row.
why: A step with the fix is longer than its kernels. This names the rest.
kind: info
internal: true
tags: [gpu]
reads: []
asks: [finding_edits, {query: finding_gains, given: {edits: finding_edits}}]
columns:
  - {name: rank, type: int, label: "#", priority: 3, doc: "1, the place of the fix."}
  - {name: gap_ns, type: duration, unit: ns, label: "gaps", priority: 0, doc: "Time in a step between kernels that follow each other, on the path that binds."}
  - {name: mean_gap_ns, type: duration, unit: ns, label: "mean gap", priority: 1, doc: "Mean time of these gaps; null without gaps."}
  - {name: host_ns, type: duration, unit: ns, label: "host", priority: 0, doc: "Time in a step in which the host binds, with launch latency."}
checks:
  - gap_ns >= 0 AND host_ns >= 0
limits: See critical_part. No row if nothing was replayed.
---*/
SELECT
  rank,
  gap_ns,
  gap_ns * (coalesce(step_count, 1)) / nullif(gap_count, 0) AS mean_gap_ns,
  host_ns
FROM finding_gains
WHERE rank = 1
  AND gap_ns IS NOT NULL
ORDER BY rank
