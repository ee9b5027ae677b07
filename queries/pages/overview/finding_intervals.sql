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
asks: [{kind: finding}, findings]
params:
  - {name: finding, type: text, default: "", doc: "Name of a finding; empty for those of number."}
  - {name: number, type: int, default: 0, min: 0, doc: "Rank of a finding, as in findings; 0 for all whose fix gains time."}
  - {name: at_most, type: int, default: 100000, min: 1, doc: "Most intervals of a finding: the longest, and those as long as the last."}
columns:
  - {name: rank, type: int, priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: intervals, type: text, priority: 0, doc: "A JSON array: rank and name of the finding, and its intervals, each with GPU, start and end in its GPU's window, the time that places it, and subject. An idle interval is placed by its end, when the next operation starts; others by their start."}
limits: See findings.
---*/
SELECT
  findings.rank,
  -- As text: json() would read all intervals again.
  '[' || findings.rank || ',' || json_quote(findings.finding) || ',' || (
    SELECT
      longest_spans(
        :at_most,
        finding.gpu_id,
        finding.from_ns,
        finding.to_ns,
        finding.start_ns + iif(findings.frees = 'idle', finding.dur_ns, 0),
        finding.subject
      )
    FROM finding
    WHERE finding.query = findings.finding
  ) || ']' AS intervals
FROM findings
WHERE CASE
    WHEN :finding <> '' THEN findings.finding = :finding
    WHEN :number > 0 THEN findings.rank = :number
    ELSE findings.verdict = 'yes'
  END
ORDER BY findings.rank
