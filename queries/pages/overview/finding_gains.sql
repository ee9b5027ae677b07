/*---
name: finding_gains
version: 4
title: What fixes gain
summary: How long a step takes with each fix, alone and with those before it.
why: A fix gains what the step gets shorter, not the time that it touches, because something else may bind then.
kind: info
internal: true
tags: [gpu]
reads: [all_critical_part, all_replayed_window, judged_window]
requires: [judged_window]
params:
  - {name: edits, type: list, doc: "JSON arrays: name of a finding, those that it narrows, the edits of its fix, those of a program without the operations, by how much its gain is divided to rank it, and the time of its intervals, if more than twice that is the gain of a fix of the host's work, where that gains half as much, and the most that all its gains are, or null."}
columns:
  - {name: rank, type: int, priority: 0, doc: "Place of the fix, from 1: the best one first, where an uncertain gain counts less. 0 for the capture as it is."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding; null for the capture as it is."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps after the warm-up on that GPU; null for the whole report, if it has no steps."}
  - {name: now_ns, type: duration, unit: ns, label: "now", priority: 0, doc: "Mean time of a step on the GPU where it takes longest, or the time of the whole report."}
  - {name: alone_ns, type: duration, unit: ns, label: "alone", priority: 0, doc: "The same with this fix alone."}
  - {name: avoided_ns, type: duration, unit: ns, label: "without", priority: 1, doc: "The same without the operations that the fix hides; null if it hides none."}
  - {name: before_ns, type: duration, unit: ns, label: "before", priority: 1, doc: "The same with the fixes before this one."}
  - {name: then_ns, type: duration, unit: ns, label: "then", priority: 1, doc: "The same with this fix and those before it."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle then", priority: 1, doc: "Time in a step in which the GPU that takes longest has nothing to do, with this fix and those before it."}
  - {name: bound, type: text, priority: 2, doc: "Of the last row: the largest part of the chain that binds then, of those that are no work of the GPU, as in the relation critical_part, or other GPUs: their work, which the GPU waits for; else null."}
  - {name: bound_ns, type: duration, unit: ns, label: "bound time", priority: 2, doc: "Its time in a step; else null."}
  - {name: gap_ns, type: duration, unit: ns, label: "gaps", priority: 2, doc: "Of the first fix: time in a step between kernels that follow each other, on the path that binds with it; else null."}
  - {name: gap_count, type: int, unit: count, label: "number of gaps", priority: 3, doc: "These gaps, in all steps; else null."}
  - {name: host_ns, type: duration, unit: ns, label: "host", priority: 2, doc: "Of the first fix: time in a step in which the host binds then, with launch latency; else null."}
checks:
  - now_ns > 0
limits: See critical_part. A finding that narrows another one comes before it if it gains half as much or more.
---*/
WITH
-- Edits list intervals, in megabytes: others name the finding instead. Each plus hinders an index, which is a copy.
fix AS MATERIALIZED (
  SELECT
    value ->> 0 AS finding,
    value ->> 1 AS narrows,
    value ->> 2 AS edits,
    value ->> 3 AS avoid,
    value ->> 4 AS doubt,
    value ->> 5 AS own_ns,
    value ->> 6 AS most_ns
  FROM json_each(:edits)
),
win AS MATERIALIZED (
  SELECT *
  FROM judged_window
),
now AS MATERIALIZED (
  -- The only max() chooses the row: the GPU where a step takes longest.
  SELECT step_count, max((end_ns - start_ns) / count) AS now_ns, (SELECT sum(count) FROM win) AS all_count
  FROM win
),
asked AS MATERIALIZED (
  SELECT finding, 0 AS is_avoided
  FROM fix
  UNION ALL
  SELECT finding, 1
  FROM fix
  WHERE avoid <> ''
),
alone AS MATERIALIZED (
  SELECT
    asked.finding,
    max(iif(asked.is_avoided, NULL, max(part.new_dur_ns, part.busiest_ns) / win.count)) AS alone_ns,
    max(iif(asked.is_avoided, max(part.new_dur_ns, part.busiest_ns) / win.count, NULL)) AS avoided_ns
  FROM asked
  CROSS JOIN win
  CROSS JOIN all_replayed_window AS part
  WHERE part.edits = (
      SELECT iif(asked.is_avoided, fix.avoid, fix.edits)
      FROM fix
      WHERE +fix.finding = asked.finding
    )
    AND part.gpu_id = win.gpu_id
    AND part.start_ns = win.start_ns
    AND part.end_ns = win.end_ns
  GROUP BY asked.finding
),
-- What counts to rank a fix. Where calls no longer wait, the host works while the GPU does, but may need what it waited
-- for. If most of the gain is that, and a fix of the host's work gains half as much or more, it is the other fix's.
credited AS MATERIALIZED (
  SELECT
    fix.finding,
    fix.narrows,
    fix.doubt,
    -- The replay keeps how long a thread waits for what comes from outside, and not when it comes.
    max(alone.alone_ns, coalesce(now.now_ns - fix.most_ns / now.all_count, 0)) AS alone_ns,
    alone.avoided_ns,
    fix.most_ns / now.all_count AS most_ns,
    iif(
      2 * fix.own_ns / now.all_count < now.now_ns - alone.alone_ns
        AND now.now_ns - alone.alone_ns
          <= 2 * max(
            iif(
              fix.finding IN ('host_work', 'launch_bound', 'mpi_wait') OR fix.finding = 'queued_work' AND fix.doubt = 1,
              now.now_ns - alone.alone_ns,
              0
            )
          ) OVER (),
      fix.own_ns / now.all_count,
      min(now.now_ns - alone.alone_ns, coalesce(fix.most_ns / now.all_count, now.now_ns))
    ) AS gain_ns
  FROM fix
  JOIN alone
    ON alone.finding = +fix.finding
  CROSS JOIN now
),
-- The best fix first. One that says more comes before the one that it narrows, if it gains half as much or more.
ranked AS MATERIALIZED (
  SELECT
    finding,
    alone_ns,
    avoided_ns,
    most_ns,
    row_number() OVER (
      ORDER BY
        (
          SELECT max(broad.gain_ns / credited.doubt)
          FROM credited AS broad
          WHERE broad.finding = credited.finding
            OR (
              instr(',' || credited.narrows || ',', ',' || broad.finding || ',')
              AND 2 * credited.gain_ns >= broad.gain_ns
            )
        ) DESC,
        -- Of these, one that none narrows.
        (
          SELECT count(*)
          FROM fix AS special
          WHERE instr(',' || special.narrows || ',', ',' || credited.finding || ',')
        ),
        length(narrows) DESC,
        alone_ns,
        finding
    ) AS rank
  FROM credited
),
joined AS MATERIALIZED (
  SELECT 0 AS rank, '' AS edits, NULL AS most_ns
  UNION ALL
  SELECT ranked.rank, group_concat(fix.edits, char(10)) OVER (ORDER BY ranked.rank), ranked.most_ns
  FROM ranked
  CROSS JOIN fix
  WHERE +fix.finding = ranked.finding
),
-- The GPU that takes longest, each time.
together AS MATERIALIZED (
  SELECT rank, gpu_id, start_ns, end_ns, count, most_ns, then_ns, max(then_ns - busy_ns, 0) AS idle_ns
  FROM (
    SELECT
      joined.rank,
      joined.most_ns,
      win.*,
      max(part.new_dur_ns, part.busiest_ns) / win.count AS then_ns,
      part.busy_ns / win.count AS busy_ns,
      row_number() OVER (
        PARTITION BY joined.rank
        ORDER BY max(part.new_dur_ns, part.busiest_ns) / win.count DESC, win.gpu_id
      ) AS nth
    FROM joined
    CROSS JOIN win
    CROSS JOIN all_replayed_window AS part
    WHERE part.edits = joined.edits
      AND part.gpu_id = win.gpu_id
      AND part.start_ns = win.start_ns
      AND part.end_ns = win.end_ns
  )
  WHERE nth = 1
),
-- Without what a fix gains beyond the most that it can.
kept AS MATERIALIZED (
  SELECT
    *,
    then_ns + sum(max(before_ns - then_ns - coalesce(most_ns, before_ns), 0)) OVER (ORDER BY rank) AS kept_ns
  FROM (SELECT *, lag(then_ns, 1, then_ns) OVER (ORDER BY rank) AS before_ns FROM together)
),
last AS (
  SELECT max(rank) AS rank
  FROM joined
),
-- What the last row's GPU waits for. Of work on the path, what it does not do itself is work of other GPUs.
last_path AS (
  SELECT
    iif(part.part IN ('compute', 'communication', 'memory'), 'other GPUs', part.part) AS bound,
    sum(part.dur_ns) / together.count AS dur_ns,
    together.then_ns - together.idle_ns AS own_ns
  FROM last
  JOIN joined
    ON joined.rank = last.rank
  JOIN together
    ON together.rank = last.rank
  CROSS JOIN all_critical_part AS part
  WHERE part.edits = joined.edits
    AND part.gpu_id = together.gpu_id
    AND part.start_ns = together.start_ns
    AND part.end_ns = together.end_ns
  GROUP BY 1
),
bound AS (
  SELECT bound, bound_ns
  FROM (SELECT bound, dur_ns - iif(bound = 'other GPUs', own_ns, 0) AS bound_ns FROM last_path)
  WHERE bound <> 'other GPUs'
    OR bound_ns > 0
    AND (SELECT count(DISTINCT gpu_id) FROM win) > 1
  ORDER BY bound_ns DESC, bound
  LIMIT 1
),
-- What a step consists of with the first fix.
first_path AS MATERIALIZED (
  SELECT
    together.count,
    part.part,
    part.dur_ns
  FROM joined
  JOIN together
    ON together.rank = joined.rank
  CROSS JOIN all_critical_part AS part
  WHERE joined.rank = 1
    AND part.edits = joined.edits
    AND part.gpu_id = together.gpu_id
    AND part.start_ns = together.start_ns
    AND part.end_ns = together.end_ns
),
first_rest AS (
  SELECT
    sum(iif(part IN ('stream gap', 'handover'), dur_ns, 0)) / max(count) AS gap_ns,
    sum(part IN ('stream gap', 'handover')) AS gap_count,
    sum(
      iif(
        part IN ('compute', 'communication', 'memory', 'stream gap', 'handover', 'unexplained', 'before', 'after'),
        0,
        dur_ns
      )
    ) / max(count) AS host_ns
  FROM first_path
)
SELECT
  together.rank,
  ranked.finding,
  now.step_count,
  now.now_ns,
  min(ranked.alone_ns, now.now_ns) AS alone_ns,
  min(ranked.avoided_ns, now.now_ns) AS avoided_ns,
  -- A fix does not make the others worse.
  min(now.now_ns, min(together.kept_ns) OVER before) AS before_ns,
  min(now.now_ns, min(together.kept_ns) OVER (ORDER BY together.rank)) AS then_ns,
  together.idle_ns,
  bound.bound,
  bound.bound_ns,
  iif(together.rank = 1, first_rest.gap_ns, NULL) AS gap_ns,
  iif(together.rank = 1, first_rest.gap_count, NULL) AS gap_count,
  iif(together.rank = 1, first_rest.host_ns, NULL) AS host_ns
FROM kept AS together
CROSS JOIN now
CROSS JOIN first_rest
LEFT JOIN ranked
  ON ranked.rank = together.rank
LEFT JOIN bound
  ON together.rank = (SELECT rank FROM last)
WINDOW before AS (ORDER BY together.rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
ORDER BY together.rank
