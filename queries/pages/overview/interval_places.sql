/*---
name: interval_places
version: 2
title: Places of intervals
summary: The range path, thread and step of intervals of findings.
why: To know which part of the program to change.
kind: info
internal: true
tags: [cuda, gpu, nvtx]
reads: [nvtx_op, nvtx_path, nvtx_record, op_at, step_window]
requires: [op_at]
params:
  - {name: intervals, type: list, doc: "JSON arrays, as finding_intervals gives them."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding."}
  - {name: range_path, type: text, label: "range", priority: 0, doc: "NVTX ranges around the launch, from the outermost to the innermost, joined by ' / ', each number replaced by *; null outside all ranges. For an idle interval, the launch of the operation after it; otherwise of the operation in it."}
  - {name: tid, type: id, label: "thread", priority: 0, doc: "Operating system ID of the thread that launched it; null if unknown."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Time of the finding's intervals there, each cut to its GPU's window."}
  - {name: time_pct, type: percent, unit: percent, label: "% of finding", priority: 1, doc: "total_ns as a share of all intervals of the finding."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 1, doc: "Intervals there."}
  - {name: top_subject, type: text, priority: 1, doc: "Subject with the most of this time, as in the rows of the finding."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps that have these intervals; 0 without steps."}
  - {name: top_step, type: int, label: "most in step", priority: 2, doc: "Number of the step with the most of this time, as in steps; null without steps."}
  - {name: top_step_ns, type: duration, unit: ns, label: "time in that step", priority: 2, doc: "Time of the intervals there in that step; null without steps."}
  - {name: main_path, type: text, label: "half is in", priority: 3, doc: "Of the whole finding: the innermost range path that has, with those below it, half of its time or more; null if there is none."}
  - {name: main_path_pct, type: percent, unit: percent, label: "share there", priority: 3, doc: "Share of the finding's time in main_path."}
limits: See finding_places.
---*/
WITH RECURSIVE
step_of AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY gpu_id ORDER BY start_ns, end_ns) - 1 AS place
  FROM (SELECT gpu_id, step, start_ns, end_ns FROM step_window)
),
-- Once each: the text of a finding holds all its intervals. They are cut out, because reading them as JSON takes long.
listed AS MATERIALIZED (
  SELECT value
  FROM json_each(:intervals)
),
found AS MATERIALIZED (
  SELECT
    substr(value, 1, instr(value, ',[') - 1) || ']' ->> 0 AS rank,
    substr(value, 1, instr(value, ',[') - 1) || ']' ->> 1 AS finding,
    substr(value, instr(value, ',[') + 1, length(value) - instr(value, ',[') - 1) AS parts
  FROM listed
),
placed AS (
  SELECT
    found.rank,
    each.v0 AS gpu_id,
    each.v2 - each.v1 AS dur_ns,
    each.v4 AS subject,
    op_at.tid,
    -- Without ranges, the projection is not made.
    CASE
      WHEN EXISTS (SELECT 1 FROM nvtx_record)
        THEN (
          SELECT path_id
          FROM nvtx_op
          WHERE nvtx_op.op_kind = op_at.op_kind
            AND nvtx_op.op_id = op_at.op_id
        )
    END AS path_id,
    place_of((SELECT time_places(gpu_id, start_ns, end_ns) FROM step_of), each.v0, each.v1) AS place
  FROM found
  CROSS JOIN json_rows(found.parts) AS each
  LEFT JOIN op_at
    ON op_at.gpu_id = each.v0
    AND op_at.at_ns = each.v3
),
-- Many intervals of few places: GROUP BY would sort them.
counted AS MATERIALIZED (
  SELECT
    v0 AS rank,
    v1 AS path_id,
    v2 AS tid,
    v3 AS gpu_id,
    v4 AS place,
    v5 AS subject,
    v6 AS interval_count,
    v7 AS dur_ns
  FROM json_rows((SELECT sums_by(dur_ns, rank, path_id, tid, gpu_id, place, subject) FROM placed))
),
by_place AS MATERIALIZED (
  SELECT rank, path_id, tid, gpu_id, place, sum(interval_count) AS interval_count, sum(dur_ns) AS dur_ns
  FROM counted
  GROUP BY rank, path_id, tid, gpu_id, place
),
by_subject AS MATERIALIZED (
  SELECT
    rank,
    path_id,
    tid,
    subject,
    row_number() OVER (PARTITION BY rank, path_id, tid ORDER BY sum(dur_ns) DESC, subject) AS nth
  FROM counted
  GROUP BY rank, path_id, tid, subject
  HAVING sum(dur_ns) > 0
),
by_step AS (
  SELECT by_place.rank, by_place.path_id, by_place.tid, step_of.step, sum(by_place.dur_ns) AS dur_ns
  FROM by_place
  LEFT JOIN step_of
    ON step_of.gpu_id = by_place.gpu_id
    AND step_of.place = by_place.place
  GROUP BY by_place.rank, by_place.path_id, by_place.tid, step_of.step
),
most AS MATERIALIZED (
  SELECT
    *,
    sum(step IS NOT NULL) OVER place AS step_count,
    row_number() OVER (PARTITION BY rank, path_id, tid ORDER BY step IS NULL, dur_ns DESC, step) AS nth
  FROM by_step
  WINDOW place AS (PARTITION BY rank, path_id, tid)
),
whole AS MATERIALIZED (
  SELECT rank, sum(dur_ns) AS dur_ns
  FROM by_place
  GROUP BY rank
),
-- The time in each range path, with the paths below it.
up (rank, path_id, dur_ns) AS (
  SELECT rank, path_id, sum(dur_ns)
  FROM by_place
  WHERE path_id IS NOT NULL
  GROUP BY rank, path_id
  UNION ALL
  SELECT up.rank, nvtx_path.parent_path_id, up.dur_ns
  FROM up
  JOIN nvtx_path
    ON nvtx_path.path_id = up.path_id
  WHERE nvtx_path.parent_path_id IS NOT NULL
),
branch AS (
  SELECT rank, path_id, sum(dur_ns) AS dur_ns
  FROM up
  GROUP BY rank, path_id
),
main AS MATERIALIZED (
  SELECT
    branch.rank,
    nvtx_path.path,
    branch.dur_ns,
    row_number() OVER (
      PARTITION BY branch.rank
      ORDER BY nvtx_path.depth DESC, branch.dur_ns DESC, nvtx_path.path
    ) AS nth
  FROM branch
  JOIN nvtx_path
    ON nvtx_path.path_id = branch.path_id
  JOIN whole
    ON whole.rank = branch.rank
  WHERE 2 * branch.dur_ns >= whole.dur_ns
),
summed AS (
  SELECT rank, path_id, tid, sum(dur_ns) AS total_ns, sum(interval_count) AS interval_count
  FROM by_place
  GROUP BY rank, path_id, tid
)
SELECT
  summed.rank,
  found.finding,
  (SELECT path FROM nvtx_path WHERE nvtx_path.path_id = summed.path_id) AS range_path,
  summed.tid,
  summed.total_ns,
  100.0 * summed.total_ns / nullif(whole.dur_ns, 0) AS time_pct,
  summed.interval_count,
  top.subject AS top_subject,
  most.step_count,
  most.step AS top_step,
  iif(most.step IS NULL, NULL, most.dur_ns) AS top_step_ns,
  main.path AS main_path,
  100.0 * main.dur_ns / whole.dur_ns AS main_path_pct
FROM summed
JOIN found
  ON found.rank = summed.rank
JOIN whole
  ON whole.rank = summed.rank
LEFT JOIN by_subject AS top
  ON top.rank = summed.rank
  AND coalesce(top.path_id, -1) = coalesce(summed.path_id, -1)
  AND coalesce(top.tid, -1) = coalesce(summed.tid, -1)
  AND top.nth = 1
LEFT JOIN main
  ON main.rank = summed.rank
  AND main.nth = 1
JOIN most
  ON most.rank = summed.rank
  AND coalesce(most.path_id, -1) = coalesce(summed.path_id, -1)
  AND coalesce(most.tid, -1) = coalesce(summed.tid, -1)
  AND most.nth = 1
ORDER BY summed.rank, summed.total_ns DESC, range_path, summed.tid
