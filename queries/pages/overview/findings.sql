/*---
name: findings
version: 2
title: What to fix first
summary: Every finding, ranked by the GPU time that its fix alone would free.
why: To know what to fix first, how much it can win at most, and what the capture cannot tell.
kind: sum
tags: [cuda, gpu]
reads: []
asks: [{kind: finding}, gpu_parts, idle_doubt]
params:
  - {name: at_least_pct, type: real, default: 0.5, min: 0, max: 100, doc: "Smallest share of the GPUs' windows for the verdict yes, in percent."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank from 1: by verdict, then by adds_ns and ceiling_ns."}
  - {name: verdict, type: text, priority: 1, doc: "yes: there is time to win; covered: there is, but findings ranked above claim it; no: there is none, or less than at_least_pct; cannot tell: the report lacks the data."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding, a query whose rows are the intervals."}
  - {name: adds_ns, type: duration, unit: ns, label: "adds", priority: 1, doc: "GPU time that its fix would free at most, beyond what the fixes ranked above free. All rows together never exceed the windows."}
  - {name: adds_pct, type: percent, unit: percent, label: "adds % of windows", priority: 1, doc: "adds_ns as a share of all GPUs' windows."}
  - {name: ceiling_ns, type: duration, unit: ns, label: "alone", priority: 2, doc: "GPU time that its fix alone would free at most: the union of its intervals on each GPU."}
  - {name: ceiling_pct, type: percent, unit: percent, label: "alone % of windows", priority: 3, doc: "ceiling_ns as a share of all GPUs' windows."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 2, doc: "Rows of the finding."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 3, doc: "GPUs that have such intervals."}
  - {name: top_subject, type: text, priority: 1, doc: "Subject with the most time, such as a kernel or a function; null without intervals."}
  - {name: top_subject_pct, type: percent, unit: percent, label: "top subject's share", priority: 3, doc: "Its part of ceiling_ns."}
  - {name: subject_count, type: int, unit: count, label: "subjects", priority: 3, doc: "Number of subjects."}
  - {name: confidence, type: text, priority: 2, doc: "high: the rows prove it; medium: they make it likely; low: needs manual confirmation."}
  - {name: frees, type: text, priority: 3, doc: "What the GPU does in that time: idle, kernels, communication or copies."}
  - {name: claim, type: text, priority: 3, doc: "What is wrong, where the verdict is yes."}
  - {name: ceiling, type: text, priority: 3, doc: "Which time a perfect fix would free, and which it would not."}
  - {name: remedy, type: text, priority: 3, doc: "What to do."}
  - {name: link, type: text, priority: 3, doc: "Documentation of the remedy."}
  - {name: lacks, type: text, priority: 3, doc: "What the report lacks, such as the work of its launches, so that the finding cannot be told; else null."}
  - {name: help, type: text, priority: 3, doc: "How to record it; null unless the report lacks it."}
checks:
  - adds_ns BETWEEN 0 AND ceiling_ns
  - (lacks IS NOT NULL) = (verdict = 'cannot tell')
limits: >-
  A ceiling is an upper bound: a perfect fix that costs nothing, and whose freed time nothing else fills. The host or
  another GPU may then be the limit. Each nanosecond of a GPU counts once, for the finding ranked first. A finding
  without intervals may still be wrong about work that the capture does not show. At most 62 findings are ranked. Nothing
  is found if launches failed, or if much work is missing.
see_also: [gpu_time, gpu_idle_cause_sum, top_kernels]
---*/
WITH
number AS (
  SELECT query, narrows, row_number() OVER (ORDER BY query) - 1 AS bit
  FROM finding_about
),
-- Within the window of the GPU.
cut AS (
  SELECT
    finding.query,
    finding.gpu_id,
    finding.subject,
    max(finding.start_ns, gpu_parts.start_ns) AS start_ns,
    min(finding.start_ns + finding.dur_ns, gpu_parts.end_ns) AS end_ns
  FROM finding
  JOIN gpu_parts
    ON gpu_parts.gpu_id = finding.gpu_id
),
-- How long each set of findings claims the same time, as a sum of powers of two.
claimed AS MATERIALIZED (
  SELECT value ->> 0 AS mask, value ->> 1 AS dur_ns
  FROM json_each(
    (
      SELECT overlap_times(cut.gpu_id, number.bit, cut.start_ns, cut.end_ns)
      FROM number
      CROSS JOIN cut
      WHERE cut.query = number.query
        AND number.bit < 62
    )
  )
),
-- The bits of the findings that narrow each broader finding.
narrower AS (
  SELECT broad.bit, sum(1 << narrow.bit) AS bits
  FROM number AS broad
  JOIN number AS narrow
    ON instr(',' || narrow.narrows || ',', ',' || broad.query || ',')
    AND narrow.bit < 62
    AND broad.bit < 62
  GROUP BY broad.bit
),
-- Time that a narrower finding claims does not count for the broader one.
counted AS MATERIALIZED (
  SELECT
    claimed.mask & ~coalesce((
      SELECT sum(1 << narrower.bit)
      FROM narrower
      WHERE narrower.bits & claimed.mask
    ), 0) AS mask,
    sum(claimed.dur_ns) AS dur_ns
  FROM claimed
  GROUP BY 1
),
-- The finding that adds most time, then the one that adds most of the rest, and so on.
added AS (
  SELECT value ->> 0 AS bit, value ->> 1 AS adds_ns
  FROM json_each((SELECT greedy_cover(mask, dur_ns) FROM counted))
),
total AS (
  SELECT number.bit, sum(claimed.dur_ns) AS ceiling_ns
  FROM number
  JOIN claimed
    ON claimed.mask >> number.bit & 1
  GROUP BY number.bit
),
-- A statement for each finding: grouping would sort the intervals of all.
measured AS MATERIALIZED (
  SELECT
    bit,
    (
      SELECT
        json_array(
          count(*),
          count(DISTINCT iif(end_ns > start_ns, gpu_id, NULL)),
          json(top_share(gpu_id, start_ns, end_ns, subject))
        )
      FROM cut
      WHERE cut.query = number.query
        AND number.bit < 62
    ) AS sums
  FROM number
),
judged AS (
  SELECT
    finding_about.*,
    (SELECT max(reason) FROM idle_doubt) AS missing,
    (SELECT max(look_at) FROM idle_doubt) AS look_at,
    coalesce(added.adds_ns, 0) AS adds_ns,
    coalesce(total.ceiling_ns, 0) AS ceiling_ns,
    coalesce(measured.sums ->> 1, 0) AS gpu_count,
    coalesce(measured.sums ->> 0, 0) AS interval_count,
    measured.sums ->> '$[2][0]' AS top_subject,
    100.0 * (measured.sums ->> '$[2][1]') / nullif(total.ceiling_ns, 0) AS top_subject_pct,
    coalesce(measured.sums ->> '$[2][2]', 0) AS subject_count,
    (SELECT sum(window_ns) FROM gpu_parts) AS window_ns
  FROM finding_about
  JOIN number USING (query)
  LEFT JOIN added USING (bit)
  LEFT JOIN total USING (bit)
  LEFT JOIN measured USING (bit)
),
told AS (
  SELECT
    *,
    CASE
      WHEN lacks IS NOT NULL OR missing IS NOT NULL THEN 'cannot tell'
      WHEN adds_ns > 0 AND 100.0 * adds_ns >= :at_least_pct * window_ns THEN 'yes'
      WHEN ceiling_ns > 0 AND 100.0 * ceiling_ns >= :at_least_pct * window_ns THEN 'covered'
      ELSE 'no'
    END AS verdict
  FROM judged
)
SELECT
  row_number() OVER (
    ORDER BY
      CASE verdict WHEN 'yes' THEN 1 WHEN 'covered' THEN 2 WHEN 'cannot tell' THEN 3 ELSE 4 END,
      adds_ns DESC,
      ceiling_ns DESC,
      query
  ) AS rank,
  verdict,
  query AS finding,
  adds_ns,
  coalesce(100.0 * adds_ns / nullif(window_ns, 0), 0.0) AS adds_pct,
  ceiling_ns,
  coalesce(100.0 * ceiling_ns / nullif(window_ns, 0), 0.0) AS ceiling_pct,
  interval_count,
  gpu_count,
  top_subject,
  top_subject_pct,
  subject_count,
  confidence,
  frees,
  claim,
  ceiling,
  remedy,
  link,
  coalesce(missing, lacks) AS lacks,
  iif(missing IS NULL, help, printf('`nsq run REPORT -q %s` lists them', look_at)) AS help
FROM told
ORDER BY rank
