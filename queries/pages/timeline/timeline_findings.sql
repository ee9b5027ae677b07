/*---
name: timeline_findings
version: 1
title: Findings on the timeline
summary: The longest places of each finding on each GPU, as lists of numbers.
why: To see where findings are, next to the work and the calls that cause them.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [{kind: finding}, findings, finding_intervals, gpu_parts]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, from the start of the first window of a GPU to the end of the last."}
  - {name: at_most, type: int, default: 2000, min: 1, doc: "Most places of a finding in the lists, the longest."}
columns:
  - {name: rank, type: int, label: "#", priority: 0, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: place_count, type: int, unit: count, label: "places", priority: 1, doc: "Intervals of the finding in the window of the GPU."}
  - {name: shown_count, type: int, unit: count, label: "shown", priority: 1, doc: "Intervals that are in the lists."}
  - {name: place_ns, type: duration, unit: ns, label: "time in places", priority: 1, doc: "Sum of the lengths of all these intervals."}
  - {name: adds_ns, type: duration, unit: ns, label: "adds", priority: 1, doc: "As in findings."}
  - {name: adds_pct, type: percent, unit: percent, label: "adds % of step", priority: 1, doc: "As in findings."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 3, doc: "As in findings."}
  - {name: confidence, type: text, priority: 2, doc: "As in findings."}
  - {name: claim, type: text, priority: 3, doc: "As in findings."}
  - {name: ceiling, type: text, priority: 3, doc: "As in findings."}
  - {name: remedy, type: text, priority: 3, doc: "As in findings."}
  - {name: subject_kind, type: text, priority: 3, doc: "As in findings."}
  - {name: start_list, type: text, priority: 3, doc: "JSON list of the starts of the longest places in ns on the report's clock: the first, then each from the one before."}
  - {name: dur_list, type: text, priority: 3, doc: "JSON list of their lengths in ns."}
  - {name: subject_list, type: text, priority: 3, doc: "JSON list of their subjects: positions in subject_texts, from 0."}
  - {name: subject_texts, type: text, priority: 3, doc: "The distinct subjects with U+001F between them; empty for none."}
  - {name: piece_list, type: text, priority: 3, doc: "JSON list of two numbers per piece with these intervals: the piece, from 0, and their time there as a share in thousandths, up to 1000."}
  - {name: from_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first piece, on the report's clock."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 3, doc: "Length of each piece but the last, which takes the rest."}
checks:
  - shown_count <= place_count AND json_array_length(start_list) = shown_count
when_empty: "no fix gains time"
limits: "Intervals that overlap count each. See findings, and finding_places for their ranges and steps."
see_also: [timeline_lanes, findings, finding_places]
---*/
WITH
bound AS MATERIALIZED (
  SELECT
    min(start_ns) AS from_ns,
    max(end_ns) AS to_ns,
    max((max(end_ns) - min(start_ns)) / :pieces, 1) AS piece_ns
  FROM gpu_parts
),
cut AS MATERIALIZED (
  SELECT
    findings.rank,
    finding.gpu_id,
    finding.from_ns AS start_ns,
    finding.to_ns AS end_ns
  FROM findings
  JOIN finding
    ON finding.query = findings.finding
  WHERE findings.verdict = 'yes'
    AND finding.from_ns IS NOT NULL
),
summed AS (
  SELECT
    rank,
    gpu_id,
    count(*) AS place_count,
    sum(end_ns - start_ns) AS place_ns,
    (
      SELECT piece_times(inner_cut.gpu_id, inner_cut.start_ns, inner_cut.end_ns, bound.from_ns, bound.to_ns, :pieces)
      FROM cut AS inner_cut
      CROSS JOIN bound
      WHERE inner_cut.rank = cut.rank
        AND inner_cut.gpu_id = cut.gpu_id
    ) AS times
  FROM cut
  GROUP BY rank, gpu_id
),
place AS MATERIALIZED (
  SELECT
    finding_intervals.rank,
    spot.value ->> 0 AS gpu_id,
    spot.value ->> 1 AS start_ns,
    (spot.value ->> 2) - (spot.value ->> 1) AS dur_ns,
    spot.value ->> 4 AS subject
  FROM finding_intervals
  CROSS JOIN json_each(finding_intervals.intervals ->> 2) AS spot
),
numbered AS (
  SELECT
    rank,
    gpu_id,
    start_ns - lag(start_ns, 1, 0) OVER of_gpu AS start_step,
    dur_ns,
    subject,
    dense_rank() OVER (PARTITION BY rank, gpu_id ORDER BY subject) - 1 AS subject_id
  FROM place
  WINDOW of_gpu AS (PARTITION BY rank, gpu_id ORDER BY start_ns, dur_ns, subject)
  ORDER BY rank, gpu_id, start_ns, dur_ns, subject
),
packed AS MATERIALIZED (
  SELECT
    rank,
    gpu_id,
    count(*) AS shown_count,
    json_group_array(start_step) AS start_list,
    json_group_array(dur_ns) AS dur_list,
    json_group_array(subject_id) AS subject_list
  FROM numbered
  GROUP BY rank, gpu_id
),
texts AS MATERIALIZED (
  SELECT rank, gpu_id, group_concat(replace(coalesce(subject, ''), char(31), ' '), char(31)) AS subject_texts
  FROM (SELECT DISTINCT rank, gpu_id, subject FROM place ORDER BY rank, gpu_id, subject)
  GROUP BY rank, gpu_id
)
SELECT
  findings.rank,
  findings.finding,
  summed.gpu_id,
  summed.place_count,
  packed.shown_count,
  summed.place_ns,
  findings.adds_ns,
  findings.adds_pct,
  findings.step_count,
  findings.confidence,
  findings.claim,
  findings.ceiling,
  findings.remedy,
  findings.subject_kind,
  packed.start_list,
  packed.dur_list,
  packed.subject_list,
  texts.subject_texts,
  (
    SELECT
      '[' || coalesce(
        group_concat((time.value ->> 1) || ',' || min(1000, 1000 * (time.value ->> 2) / bound.piece_ns)),
        ''
      ) || ']'
    FROM json_each(summed.times) AS time
  ) AS piece_list,
  bound.from_ns,
  bound.piece_ns
FROM findings
CROSS JOIN bound
JOIN summed
  ON summed.rank = findings.rank
JOIN packed
  ON packed.rank = summed.rank
  AND packed.gpu_id = summed.gpu_id
JOIN texts
  ON texts.rank = summed.rank
  AND texts.gpu_id = summed.gpu_id
ORDER BY findings.rank, summed.gpu_id
