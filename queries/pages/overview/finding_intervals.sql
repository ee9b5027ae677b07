/*---
name: finding_intervals
version: 1
title: Intervals of findings
summary: The intervals of each finding, as one value.
why: To place them in the program.
kind: info
internal: true
tags: [cuda, gpu]
reads: []
asks: [{kind: finding}, findings, gpu_parts]
params:
  - {name: finding, type: text, default: "", doc: "Name of a finding; empty for those of number."}
  - {name: number, type: int, default: 0, min: 0, doc: "Rank of a finding, as in findings; 0 for all whose fix gains time."}
  - {name: at_most, type: int, default: 100000, min: 1, doc: "Most intervals of a finding, the longest."}
columns:
  - {name: rank, type: int, priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: intervals, type: text, priority: 0, doc: "A JSON array: rank and name of the finding, and its intervals, each with GPU, start and end in its GPU's window, the time that places it, and subject. An idle interval is placed by its end, when the next operation starts; others by their start."}
limits: See findings.
---*/
SELECT
  findings.rank,
  json_array(
    findings.rank,
    findings.finding,
    json((
      SELECT json_group_array(json_array(gpu_id, from_ns, to_ns, at_ns, subject))
      FROM (
        SELECT *
        FROM (
          SELECT
            finding.gpu_id,
            max(finding.start_ns, gpu_parts.start_ns) AS from_ns,
            min(finding.start_ns + finding.dur_ns, gpu_parts.end_ns) AS to_ns,
            finding.start_ns + iif(findings.frees = 'idle', finding.dur_ns, 0) AS at_ns,
            finding.subject
          FROM finding
          JOIN gpu_parts
            ON gpu_parts.gpu_id = finding.gpu_id
          WHERE finding.query = findings.finding
            AND finding.start_ns < gpu_parts.end_ns
            AND finding.start_ns + finding.dur_ns > gpu_parts.start_ns
          ORDER BY to_ns - from_ns DESC, finding.gpu_id, from_ns, finding.subject
          LIMIT :at_most
        )
        -- What is looked up for one interval is near that of the one before.
        ORDER BY gpu_id, from_ns, to_ns, subject
      )
    ))
  ) AS intervals
FROM findings
WHERE CASE
    WHEN :finding <> '' THEN findings.finding = :finding
    WHEN :number > 0 THEN findings.rank = :number
    ELSE findings.verdict = 'yes'
  END
ORDER BY findings.rank
