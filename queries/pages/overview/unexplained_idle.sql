/*---
name: unexplained_idle
version: 3
title: Idle time beyond all findings
summary: Time in a step in which a GPU has nothing to do, even with all fixes.
why: To say what is left to explain, instead of "nothing to fix", where a GPU idles.
kind: info
internal: true
tags: [gpu]
reads: []
asks: [finding_edits, {query: finding_gains, given: {edits: finding_edits}}]
columns:
  - {name: unexplained_ns, type: duration, unit: ns, priority: 1, doc: "Idle time of the GPU that takes longest for a step, or for the whole report without steps, if all findings are fixed."}
  - {name: unexplained_pct, type: percent, unit: percent, label: "unexplained % of step", priority: 1, doc: "unexplained_ns as a share of the step as it is now."}
  - {name: cause, type: text, priority: 1, doc: "The largest part of what binds then, and is no work of this GPU; null if there is none. critical_path explains each."}
  - {name: cause_ns, type: duration, unit: ns, label: "time of the cause", priority: 1, doc: "Its time in a step."}
checks:
  - unexplained_ns >= 0
limits: See critical_part. Fixes are perfect, and cost nothing.
---*/
SELECT
  idle_ns AS unexplained_ns,
  100.0 * idle_ns / now_ns AS unexplained_pct,
  CASE bound
    WHEN 'host code' THEN 'code on the host'
    WHEN 'launch call' THEN 'launch calls'
    WHEN 'allocation call' THEN 'allocation'
    WHEN 'other GPUs' THEN 'work of other GPUs'
    WHEN 'other call' THEN 'other CUDA calls'
    WHEN 'stream gap' THEN 'gaps between kernels'
    WHEN 'handover' THEN 'gaps between streams'
    WHEN 'unexplained' THEN 'delay that nothing recorded explains'
    WHEN 'before' THEN 'before the first recorded call'
    WHEN 'after' THEN 'after the last GPU operation'
    ELSE bound
  END AS cause,
  bound_ns AS cause_ns
FROM finding_gains
ORDER BY rank DESC
LIMIT 1
