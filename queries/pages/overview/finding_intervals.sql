/*---
name: finding_intervals
version: 2
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
  - {name: at_most, type: int, default: 100000, min: 1, doc: "Most intervals of a finding: the longest, and those as long as the last."}
columns:
  - {name: rank, type: int, priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: intervals, type: text, priority: 0, doc: "A JSON array: rank and name of the finding, and its intervals, each with GPU, start and end in its GPU's window, the time that places it, and subject. An idle interval is placed by its end, when the next operation starts; others by their start."}
limits: See findings.
---*/
WITH
-- Within the window of the GPU. Not stored: its readers look up one finding each.
cut AS NOT MATERIALIZED (
  SELECT
    finding.query,
    finding.gpu_id,
    max(finding.start_ns, gpu_parts.start_ns) AS from_ns,
    min(finding.start_ns + finding.dur_ns, gpu_parts.end_ns) AS to_ns,
    finding.start_ns + finding.dur_ns AS end_ns,
    finding.start_ns,
    finding.subject
  FROM finding
  JOIN gpu_parts
    ON gpu_parts.gpu_id = finding.gpu_id
  WHERE finding.start_ns < gpu_parts.end_ns
    AND finding.start_ns + finding.dur_ns > gpu_parts.start_ns
)
SELECT
  findings.rank,
  -- As text: json() would read all intervals again.
  '[' || findings.rank || ',' || json_quote(findings.finding) || ',' || (
    SELECT
      longest_spans(
        :at_most,
        cut.gpu_id,
        cut.from_ns,
        cut.to_ns,
        iif(findings.frees = 'idle', cut.end_ns, cut.start_ns),
        cut.subject
      )
    FROM cut
    WHERE cut.query = findings.finding
  ) || ']' AS intervals
FROM findings
WHERE CASE
    WHEN :finding <> '' THEN findings.finding = :finding
    WHEN :number > 0 THEN findings.rank = :number
    ELSE findings.verdict = 'yes'
  END
ORDER BY findings.rank
