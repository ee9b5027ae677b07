/*---
name: finding_gaps
version: 1
title: Gaps of the findings
summary: What the longest gaps and slow steps say about when a finding's time is.
why: To say when a GPU idles, where no range of the program says where.
kind: info
internal: true
tags: [gpu]
reads: []
asks:
  - findings
  - finding_signs
  - {query: longest_gaps, optional: true}
  - {query: slow_steps, optional: true}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of a finding that was replayed."}
  - {name: kind, type: text, priority: 0, doc: "slow_steps: its time is in slow steps; one_pause, pauses: one gap or a few, in many steps; rare: gaps in few steps; one_gap, many_gaps: gaps, where there are no ranges; rest: gaps with most of what other fixes leave; range: gaps in which the thread is in one range. Null if gaps say nothing about it."}
  - {name: gap_pct, type: percent, unit: percent, label: "% in these gaps", priority: 1, doc: "Share of the idle time in these gaps; of rest, share of the finding's time. Null without a kind, and for slow_steps."}
  - {name: is_before_one, type: bool, priority: 2, doc: "1 if slow steps mostly idle before one operation."}
  - {name: comes_again, type: bool, priority: 2, doc: "1 if slow steps that come again and again have a third of its time."}
checks:
  - gap_pct >= 0
limits: See longest_gaps and slow_steps. Gaps that are mostly something else say nothing about a finding.
see_also: [finding_signs, longest_gaps, slow_steps]
---*/
WITH
gap AS MATERIALIZED (
  SELECT *
  FROM longest_gaps
  WHERE rowid = 1
),
slow AS MATERIALIZED (
  SELECT *
  FROM slow_steps
  WHERE rowid = 1
),
found AS MATERIALIZED (
  SELECT
    found.rank,
    found.finding,
    sign.pause_count,
    sign.is_rare,
    sign.is_in_gaps,
    found.rank = 1 AND found.frees = 'idle' AS is_first_idle,
    found.ceiling_ns,
    coalesce(found.step_count, 0) AS steps,
    found.top_subject = '(no NVTX range)' AS is_without_range,
    found.subject_kind,
    -- Gaps of less than twice its time are about it.
    found.ceiling_ns >= 0.5 * gap.total_ns AS is_about,
    gap.max_ns,
    gap.long_ns,
    gap.total_ns,
    gap.median_ns,
    gap.gap_count,
    gap.idle_pct,
    gap.range_name,
    gap.range_pct,
    1.0 * gap.idle_pct * gap.max_ns / gap.total_ns AS longest_pct,
    found.finding = 'slow_iterations' OR sign.is_of_slow_steps AS is_of_slow_steps,
    slow.slow_count,
    slow.every,
    slow.excess_ns
  FROM findings AS found
  JOIN finding_signs AS sign
    ON sign.finding = found.finding
  LEFT JOIN gap
    ON true
  LEFT JOIN slow
    ON true
),
-- The first kind that fits: the fewer gaps, the earlier.
sorted AS (
  SELECT
    found.*,
    CASE
      WHEN is_of_slow_steps AND slow_count IS NOT NULL THEN 'slow_steps'
      WHEN is_first_idle AND steps > 1 AND is_about AND longest_pct >= 50 THEN 'one_pause'
      WHEN is_about AND pause_count > 1 THEN 'pauses'
      -- Launches that are late delay no gap of milliseconds.
      WHEN is_about AND is_rare AND NOT (finding IN ('launch_bound', 'tiny_kernels') AND median_ns > 5000000)
        THEN 'rare'
      WHEN is_first_idle AND is_without_range AND is_about AND gap_count >= 3 AND idle_pct >= 40
        THEN iif(2 * max_ns > total_ns, 'one_gap', 'many_gaps')
      WHEN rank > 1
        AND finding = 'host_work'
        AND is_without_range
        AND gap_count >= 3
        AND 2 * max_ns <= total_ns
        AND 2 * total_ns >= ceiling_ns
        AND total_ns <= 1.1 * ceiling_ns
        THEN 'rest'
      WHEN is_first_idle
        AND range_name <> ''
        AND range_pct >= 50
        AND coalesce(subject_kind, '') <> 'NVTX range'
        AND NOT is_in_gaps
        THEN 'range'
    END AS kind
  FROM found
)
SELECT
  rank,
  finding,
  kind,
  CASE kind
    WHEN 'one_pause' THEN longest_pct
    WHEN 'one_gap' THEN longest_pct
    WHEN 'pauses' THEN 1.0 * idle_pct * long_ns / total_ns
    WHEN 'rare' THEN idle_pct
    WHEN 'many_gaps' THEN idle_pct
    WHEN 'rest' THEN min(100.0 * total_ns / ceiling_ns, 100.0)
    WHEN 'range' THEN range_pct
  END AS gap_pct,
  coalesce(
    kind = 'slow_steps'
    AND (idle_pct >= 50 OR total_ns >= 0.5 * ceiling_ns AND gap_count <= 1.5 * slow_count),
    false
  ) AS is_before_one,
  coalesce(
    every IS NOT NULL
    AND rank = 1
    AND finding IN ('host_work', 'iteration_border')
    AND NOT is_rare
    AND slow_count * excess_ns >= 0.3 * ceiling_ns,
    false
  ) AS comes_again
FROM sorted
ORDER BY rank
