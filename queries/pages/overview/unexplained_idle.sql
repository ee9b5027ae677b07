/*---
name: unexplained_idle
version: 1
title: Idle time beyond all findings
summary: Idle time of all GPUs that no finding with time to save explains.
why: To say what is left to explain, instead of "nothing to fix", where a GPU idles.
kind: info
internal: true
tags: [gpu]
reads: []
asks: [{kind: finding}, findings, gpu_parts, idle_times]
columns:
  - {name: unexplained_ns, type: duration, unit: ns, priority: 1, doc: "Idle time that no finding with the verdict yes covers."}
  - {name: unexplained_pct, type: percent, unit: percent, label: "unexplained % of windows", priority: 1, doc: "unexplained_ns as a share of all GPUs' windows."}
  - {name: cause, type: text, priority: 1, doc: "What the launching threads did in most of it; null if there is none. gpu_idle_causes explains each."}
  - {name: cause_pct, type: percent, unit: percent, label: "cause's share", priority: 1, doc: "Its part of unexplained_ns."}
checks:
  - unexplained_ns >= 0
limits: >-
  A finding explains the idle time that its intervals overlap, whether its fix would save all of that time or not.
---*/
WITH
-- Bit 0 is claimed by a finding. Each cause of idle time has a bit of its own.
number AS MATERIALIZED (
  SELECT cause, row_number() OVER (ORDER BY cause) AS bit
  FROM (SELECT DISTINCT cause FROM idle_times)
),
span AS (
  SELECT finding.gpu_id, 0 AS bit, finding.start_ns, finding.dur_ns
  FROM findings
  CROSS JOIN finding
  WHERE finding.query = findings.finding
    AND findings.verdict = 'yes'
  UNION ALL
  SELECT idle_times.gpu_id, number.bit, idle_times.start_ns, idle_times.dur_ns
  FROM idle_times
  JOIN number
    ON number.cause = idle_times.cause
),
part AS MATERIALIZED (
  SELECT number.cause, sum(value ->> 1) AS left_ns
  FROM json_each((SELECT overlap_times(gpu_id, bit, start_ns, start_ns + dur_ns) FROM span))
  JOIN number
    ON value ->> 0 = 1 << number.bit
  GROUP BY number.cause
)
SELECT
  coalesce(sum(left_ns), 0) AS unexplained_ns,
  coalesce(100.0 * sum(left_ns) / nullif((SELECT sum(window_ns) FROM gpu_parts), 0), 0.0) AS unexplained_pct,
  (SELECT cause FROM part WHERE left_ns > 0 ORDER BY left_ns DESC, cause LIMIT 1) AS cause,
  100.0 * max(left_ns) / nullif(sum(left_ns), 0) AS cause_pct
FROM part
