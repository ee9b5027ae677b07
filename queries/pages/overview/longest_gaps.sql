/*---
name: longest_gaps
version: 5
title: What long gaps come before
summary: The operation before which GPUs idle longest, in long gaps, in one row.
why: To name a place where no NVTX range does, as a kernel whose launch the host prepares.
kind: info
internal: true
tags: [gpu, nvtx]
reads: [gpu_gap, gpu_window, idle_part, launch, nvtx_name, nvtx_projection, step]
requires: [gpu_gap]
params:
  - {name: least, type: duration, default: 500us, min: 0, doc: "Shortest gap to count."}
  - {name: least_pct, type: real, default: 30, min: 0, max: 100, doc: "Smallest share of the idle time, in percent, for which to look for a range."}
columns:
  - {name: next_op, type: text, label: "next operation", priority: 0, doc: "Operation after the gaps, with all its arguments if it is a kernel."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 0, doc: "Gaps before operations of this name, on all GPUs."}
  - {name: median_ns, type: duration, unit: ns, label: "median gap", priority: 1, doc: "The middle one of their lengths."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Length of the longest."}
  - {name: total_ns, type: duration, unit: ns, label: "together", priority: 1, doc: "Sum of their lengths."}
  - {name: long_count, type: int, unit: count, label: "long gaps", priority: 2, doc: "Those at least half as long as the longest."}
  - {name: long_ns, type: duration, unit: ns, label: "long gaps together", priority: 2, doc: "Sum of their lengths."}
  - {name: idle_pct, type: percent, unit: percent, label: "% of idle time", priority: 0, doc: "total_ns as a share of the idle time of all GPUs."}
  - {name: range_name, type: text, label: "range", priority: 1, doc: "Range in which the launching thread spends most of the gaps, each number replaced by *: of nested ones, the innermost. Null if there is none, or if the range is mostly outside the gaps, as a step is. A thread that is in no range for half of a gap counts as the one that launched the operation before it."}
  - {name: range_pct, type: percent, unit: percent, label: "% of idle time in it", priority: 1, doc: "Its time in the gaps as a share of the idle time of all GPUs; null without a range."}
  - {name: range_count, type: int, unit: count, label: "gaps with it", priority: 2, doc: "Gaps in which the thread is in this range; null without a range."}
checks:
  - gap_count > 0 AND total_ns > 0
limits: Time before the first and after the last operation is no gap, unless the scope has a window. There is no row without a long gap.
---*/
WITH
named AS (
  SELECT
    after_name,
    count(*) AS gap_count,
    median(dur_ns) AS median_ns,
    max(max_ns) AS max_ns,
    sum(dur_ns) AS total_ns,
    sum(2 * dur_ns >= max_ns) AS long_count,
    sum(iif(2 * dur_ns >= max_ns, dur_ns, 0)) AS long_ns,
    row_number() OVER (ORDER BY sum(dur_ns) DESC, after_name) AS nth
  FROM (
    SELECT after_name, dur_ns, max(dur_ns) OVER (PARTITION BY after_name) AS max_ns
    FROM gpu_gap
    WHERE level = 'gpu'
      AND dur_ns >= :least
      AND after_name IS NOT NULL
  )
  GROUP BY after_name
),
first AS MATERIALIZED (
  SELECT
    *,
    100.0 * total_ns / nullif((SELECT sum(idle_ns) FROM gpu_window), 0) AS idle_pct
  FROM named
  WHERE nth = 1
),
-- Its gaps, with the thread that launches the operation after each.
found AS MATERIALIZED (
  SELECT
    min(idle.part_id) AS gap_id,
    idle.gpu_id,
    max(idle.global_tid) AS global_tid,
    max(idle.before_kind) AS before_kind,
    max(idle.before_id) AS before_id,
    idle.gap_start_ns AS start_ns,
    idle.gap_start_ns + max(idle.gap_ns) AS end_ns
  FROM first
  CROSS JOIN idle_part AS idle
  WHERE first.idle_pct >= :least_pct
    AND idle.gap_ns >= :least
    AND idle.after_name = first.after_name
    AND idle.global_tid IS NOT NULL
  GROUP BY idle.gpu_id, idle.gap_start_ns
),
range AS MATERIALIZED (
  SELECT range_id, global_tid, start_ns, end_ns, depth, name_id
  FROM nvtx_projection
  WHERE EXISTS (SELECT 1 FROM found)
    AND range_kind = 'PushPop'
    AND end_ns > start_ns
    AND overlap_ns((SELECT time_set(start_ns, end_ns) FROM found), start_ns, end_ns) > 0
),
-- See host_work: a thread that is in no range may wait for the one before it.
bare AS MATERIALIZED (
  SELECT gap_id, global_tid, before_kind, before_id
  FROM found
  WHERE EXISTS (SELECT 1 FROM range)
    AND 2 * coalesce(
        overlap_ns((SELECT time_set(global_tid, start_ns, end_ns) FROM range), global_tid, start_ns, end_ns),
        0
      ) < end_ns - start_ns
),
handed AS MATERIALIZED (
  SELECT bare.gap_id, launch.global_tid AS before_tid
  FROM launch
  JOIN bare
    ON bare.before_kind = launch.op_kind
    AND bare.before_id = launch.op_id
  WHERE EXISTS (SELECT 1 FROM bare)
    AND launch.global_tid <> bare.global_tid
),
gap AS MATERIALIZED (
  SELECT
    found.gap_id,
    found.gpu_id,
    coalesce(handed.before_tid, found.global_tid) AS global_tid,
    found.start_ns,
    found.end_ns
  FROM found
  LEFT JOIN handed
    ON handed.gap_id = found.gap_id
),
-- Ranges of one name can nest.
inside AS MATERIALIZED (
  SELECT name_id, sum(gap_count) AS gap_count, max(depth) AS depth, sum(dur_ns) AS dur_ns
  FROM (
    SELECT
      range.name_id,
      count(DISTINCT gap.gap_id) AS gap_count,
      max(range.depth) AS depth,
      busy_ns(part.start_ns, part.end_ns) AS dur_ns
    FROM split_spans(
      (SELECT time_spans(global_tid, gap_id, start_ns, end_ns) FROM gap),
      (SELECT time_spans(global_tid, range_id, start_ns, end_ns) FROM range)
    ) AS part
    JOIN gap
      ON gap.gap_id = part.span_id
    JOIN range
      ON range.range_id = part.by_id
    GROUP BY range.name_id, gap.gpu_id
  )
  GROUP BY name_id
),
-- A range with the whole step, or more, says nothing about the gaps.
place AS (
  SELECT inside.*, row_number() OVER (ORDER BY inside.depth DESC, inside.dur_ns DESC, inside.name_id) AS nth
  FROM inside
  JOIN (
    SELECT name_id, sum(dur_ns) AS dur_ns
    FROM (SELECT name_id, busy_ns(start_ns, end_ns) AS dur_ns FROM range GROUP BY name_id, global_tid)
    GROUP BY name_id
  ) AS whole
    ON whole.name_id = inside.name_id
  WHERE 2 * inside.dur_ns >= (SELECT sum(end_ns - start_ns) FROM gap)
    AND 2 * inside.dur_ns >= whole.dur_ns
    AND inside.name_id NOT IN (
      SELECT name_id
      FROM nvtx_name
      WHERE layer_name IN (SELECT layer_name FROM step)
    )
)
SELECT
  first.after_name AS next_op,
  first.gap_count,
  CAST(first.median_ns AS INTEGER) AS median_ns,
  first.max_ns,
  first.total_ns,
  first.long_count,
  first.long_ns,
  first.idle_pct,
  nvtx_name.layer_name AS range_name,
  100.0 * place.dur_ns / nullif((SELECT sum(idle_ns) FROM gpu_window), 0) AS range_pct,
  place.gap_count AS range_count
FROM first
LEFT JOIN place
  ON place.nth = 1
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = place.name_id
ORDER BY next_op
