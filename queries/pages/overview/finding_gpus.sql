/*---
name: finding_gpus
version: 1
title: GPUs of findings
summary: The GPU that has most of a finding's idle time, where others have little.
why: To say which rank's host is slow, where all GPUs of a report wait for it.
kind: info
internal: true
tags: [gpu]
reads: []
asks: [findings, gpu_parts, {kind: finding}]
params:
  - {name: least_pct, type: real, default: 70, min: 0, max: 100, doc: "Smallest share of the finding's time that it must have, in percent."}
columns:
  - {name: finding, type: text, priority: 0, doc: "Name of a finding whose fix gains time."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU with the most time in its intervals."}
  - {name: time_pct, type: percent, unit: percent, label: "% of finding", priority: 1, doc: "Its time in them as a share of that of all GPUs."}
checks:
  - time_pct > 0
limits: Only findings of idle time and copies, in reports of at most eight GPUs, without those in which only one GPU works.
---*/
WITH
compared AS MATERIALIZED (
  SELECT finding
  FROM findings
  WHERE verdict = 'yes'
    AND frees IN ('idle', 'copies')
    AND (SELECT count(*) FROM gpu_parts) BETWEEN 2 AND 8
    -- Where only one works, there is nothing to compare.
    AND (SELECT 2 * min(compute_ns) >= max(compute_ns) FROM gpu_parts)
),
-- A statement for each finding: GROUP BY would sort the intervals of all.
spent AS (
  SELECT compared.finding AS query, spent.v0 AS gpu_id, spent.v2 AS own_ns
  FROM compared
  CROSS JOIN json_rows(
    (
      SELECT sums_by(finding.to_ns - finding.from_ns, finding.gpu_id)
      FROM finding
      WHERE finding.query = compared.finding
    )
  ) AS spent
),
shared AS (
  SELECT query, gpu_id, 100.0 * sum(own_ns) / nullif(sum(sum(own_ns)) OVER (PARTITION BY query), 0) AS time_pct
  FROM spent
  GROUP BY query, gpu_id
)
SELECT query AS finding, gpu_id, time_pct
FROM shared
WHERE time_pct >= :least_pct
ORDER BY query, gpu_id
