/*---
name: rank_doubts
version: 1
title: What is missing in a report
summary: How much GPU work is missing in a report.
why: To know what a comparison of ranks rests on.
kind: info
tags: [capture, gpu]
internal: true
reads: [gpu_window, sampled_call, unseen_work]
requires: [gpu_window]
columns:
  - {name: is_sampled, type: bool, priority: 0, doc: "1 if the trace is a sample: most of its calls are missing, as in capture_trust."}
  - {name: unseen_ns, type: duration, unit: ns, label: "unseen work", priority: 0, doc: "Time in which the program waited for its GPU while no recorded work ran, of the GPU that has most."}
  - {name: unseen_pct, type: percent, unit: percent, label: "share of the window", priority: 0, doc: "unseen_ns as a share of the time of this GPU; null without GPU work."}
when_empty: "no GPU operation was recorded"
limits: See sampled_call and unseen_work.
see_also: [capture_trust]
---*/
WITH
unseen AS (
  SELECT gpu_id, sum(unseen_ns) AS unseen_ns
  FROM unseen_work
  GROUP BY gpu_id
)
SELECT
  EXISTS (SELECT 1 FROM sampled_call) AS is_sampled,
  coalesce(max(unseen.unseen_ns), 0) AS unseen_ns,
  max(100.0 * coalesce(unseen.unseen_ns, 0) / nullif(gpu_window.window_ns, 0)) AS unseen_pct
FROM gpu_window
LEFT JOIN unseen
  ON unseen.gpu_id = gpu_window.gpu_id
HAVING count(*) > 0
ORDER BY unseen_ns
