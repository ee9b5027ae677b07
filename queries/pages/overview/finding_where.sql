/*---
name: finding_where
version: 1
title: Where findings are
summary: The range, function or thread that has most of a finding's time.
why: To name one place of the program, the one that says most.
kind: info
internal: true
tags: [gpu, nvtx]
reads: []
asks:
  - findings
  - finding_signs
  - {query: finding_places, optional: true}
  - {query: idle_functions, optional: true}
  - {query: kernel_places, optional: true}
  - {query: work_functions, optional: true}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of a finding that was replayed."}
  - {name: work_place, type: text, label: "function of the work", priority: 1, doc: "Of work of the host: FILE(LINE): FUNCTION with half of that work; null if functions of the idle time say more, or none is known."}
  - {name: work_pct, type: percent, unit: percent, label: "% of the work", priority: 2, doc: "Its share of the host's work; null without one."}
  - {name: is_left, type: bool, priority: 2, doc: "1 if a fix of data loading comes first: then the host's work is what that fix leaves."}
  - {name: is_in_function, type: bool, priority: 1, doc: "1 if the functions of the idle time say best where it is."}
  - {name: is_in_call, type: bool, priority: 1, doc: "1 if it is about a call, its subject, and no range in the gaps says more."}
  - {name: path, type: text, label: "range path", priority: 0, doc: "Path of ranges that has half of its time; or the outermost two with 40 %, where only the step has half. Null if there is none."}
  - {name: path_pct, type: percent, unit: percent, label: "% in the path", priority: 1, doc: "Its share of the finding's time; null without a path."}
  - {name: is_elsewhere, type: bool, priority: 3, doc: "1 if kernels are also launched outside the outermost range of the path."}
  - {name: tid, type: id, label: "thread", priority: 2, doc: "Thread that launches nearly all of that path, where others have a part of the finding; else null."}
  - {name: placed, type: text, label: "outermost range", priority: 1, doc: "Without a path: the outermost range with a quarter of its time or more, if that says more than its subject; else null."}
  - {name: placed_pct, type: percent, unit: percent, label: "% in the range", priority: 2, doc: "Its share of the finding's time; null without one."}
  - {name: unknown_pct, type: percent, unit: percent, label: "% without a launch", priority: 2, doc: "Of work of the GPU: share of its time whose launches were not recorded, if that is a tenth or more; else null."}
  - {name: then_subject, type: text, label: "second subject", priority: 3, doc: "Of work of the host: with the subject, what has four fifths of its time; null if that has three quarters alone, or there is none."}
checks:
  - (path IS NULL) = (path_pct IS NULL)
limits: See finding_places. A path that is just the step says nothing, and is here all the same.
see_also: [finding_places, idle_functions, work_functions]
---*/
WITH
caller AS MATERIALIZED (
  SELECT place
  FROM idle_functions
  WHERE rowid = 1
),
place AS MATERIALIZED (
  SELECT
    place.rowid AS nth,
    place.*,
    replace(replace(place.range_path, 'cpu_op:', ''), 'user_annotation:', '') AS plain_path
  FROM finding_places AS place
),
-- The place with the most time of each finding, and what all its places say.
first_place AS MATERIALIZED (
  SELECT place.*, all_places.thread_count, all_places.unknown_pct
  FROM (
    SELECT
      finding,
      min(nth) AS nth,
      count(DISTINCT tid) + max(tid IS NULL) AS thread_count,
      sum(iif(tid IS NULL, time_pct, 0)) AS unknown_pct
    FROM place
    GROUP BY finding
  ) AS all_places
  JOIN place
    ON place.nth = all_places.nth
),
found AS MATERIALIZED (
  SELECT
    found.*,
    sign.is_in_gaps,
    sign.calls_per_step,
    found.rank = 1 AS is_first,
    -- After a fix of data loading, the work that is left.
    EXISTS (
      SELECT 1
      FROM findings AS fixed
      WHERE fixed.verdict = 'yes'
        AND fixed.rank < found.rank
        AND fixed.finding IN ('data_loading', 'dataloader_wait')
    ) AS is_left
  FROM findings AS found
  JOIN finding_signs AS sign
    ON sign.finding = found.finding
),
-- Work of the host has a line of the program. Functions of the idle time say more about the first finding.
work AS MATERIALIZED (
  SELECT found.finding, work.place, work.work_pct, min(work.rowid) AS nth
  FROM found
  JOIN work_functions AS work
    ON work.is_apart = found.is_left
  WHERE found.finding = 'host_work'
    AND (found.rank > 1 OR NOT EXISTS (SELECT 1 FROM caller))
  GROUP BY found.finding
),
-- A line of the program says more than what is launched after it. PyTorch's own loader is no line of the program.
in_function AS MATERIALIZED (
  SELECT found.finding
  FROM found
  CROSS JOIN caller
  WHERE found.is_first
    AND NOT found.is_in_gaps
    AND (
      found.finding IN (
        'allocation',
        'data_loading',
        'host_work',
        'iteration_border',
        'slow_iterations',
        'tiny_kernels'
      )
      OR found.calls_per_step IS NOT NULL
    )
    AND NOT (found.finding = 'data_loading' AND instr(caller.place, 'torch/utils/data'))
),
-- Where only the step has half: the part of the step with most, if that says more than the subject.
outer_range AS MATERIALIZED (
  SELECT
    found.finding,
    first_place.range_path,
    -- The first two names of the path.
    instr(first_place.range_path, ' / ') AS first_end
  FROM found
  JOIN first_place
    ON first_place.finding = found.finding
  WHERE first_place.range_path <> ''
    AND found.frees = 'idle'
    AND found.top_subject_pct < 40
    AND NOT instr(coalesce(first_place.main_path, ''), ' / ')
),
outer_path AS MATERIALIZED (
  SELECT
    finding,
    CASE
      WHEN first_end = 0 THEN range_path
      WHEN instr(substr(range_path, first_end + 3), ' / ') = 0 THEN range_path
      ELSE substr(range_path, 1, first_end + 1 + instr(substr(range_path, first_end + 3), ' / '))
    END AS path
  FROM outer_range
),
outer_part AS MATERIALIZED (
  SELECT outer_path.finding, outer_path.path, sum(place.time_pct) AS path_pct
  FROM outer_path
  JOIN place
    ON place.finding = outer_path.finding
    AND substr(place.range_path, 1, length(outer_path.path)) = outer_path.path
  GROUP BY outer_path.finding, outer_path.path
  HAVING path_pct >= 40
),
main_path AS MATERIALIZED (
  SELECT
    first_place.finding,
    coalesce(outer_part.path, first_place.main_path) AS raw_path,
    iif(outer_part.path IS NULL, first_place.main_path_pct, outer_part.path_pct) AS path_pct
  FROM first_place
  LEFT JOIN outer_part
    ON outer_part.finding = first_place.finding
),
path AS MATERIALIZED (
  SELECT finding, path, path_pct, substr(path || ' / ', 1, instr(path || ' / ', ' / ') - 1) AS outermost
  FROM (
    SELECT finding, replace(replace(raw_path, 'cpu_op:', ''), 'user_annotation:', '') AS path, path_pct
    FROM main_path
    WHERE raw_path <> ''
  )
),
-- Nearly all of the path, of one thread of several.
of_thread AS (
  SELECT path.finding, first_place.tid
  FROM path
  JOIN first_place
    ON first_place.finding = path.finding
  WHERE first_place.thread_count > 1
    AND first_place.time_pct >= 0.8 * path.path_pct
    AND first_place.range_path <> ''
    AND instr(first_place.range_path, coalesce(first_place.main_path, '')) = 1
),
-- The range with the most time, where none has half.
ranged AS (
  SELECT
    found.finding,
    found.top_subject,
    found.top_subject_pct,
    (
      SELECT min(place.nth)
      FROM place
      WHERE place.finding = found.finding
        AND place.range_path <> ''
    ) AS nth
  FROM found
  WHERE coalesce(found.subject_kind, '') <> 'NVTX range'
    AND found.finding NOT IN (SELECT finding FROM path)
),
placed AS (
  SELECT
    ranged.finding,
    ranged.top_subject,
    ranged.top_subject_pct,
    own.plain_path || ' / ' AS plain_path,
    sum(place.time_pct) AS placed_pct
  FROM ranged
  JOIN place AS own
    ON own.nth = ranged.nth
  JOIN place
    ON place.finding = ranged.finding
    AND place.range_path = own.range_path
  GROUP BY ranged.finding
),
-- A subject with more of the time says more.
outermost AS MATERIALIZED (
  SELECT finding, substr(plain_path, 1, instr(plain_path, ' / ') - 1) AS placed, placed_pct
  FROM placed
  WHERE placed_pct >= 25
    AND (
      top_subject = '(no NVTX range)'
      OR NOT instr(top_subject, ' in ')
      OR top_subject_pct < 2 * placed_pct
    )
),
-- What has most of the time with the subject, and much less without.
second AS MATERIALIZED (
  SELECT found.finding, found.top_subject_pct, place.top_subject, place.time_pct, min(place.nth) AS nth
  FROM found
  JOIN place
    ON place.finding = found.finding
  WHERE found.finding = 'host_work'
    AND found.top_subject_pct >= 40
    AND found.top_subject_pct < 75
    AND place.time_pct >= 25
    AND place.top_subject NOT IN ('', '(no NVTX range)', found.top_subject)
  GROUP BY found.finding
)
SELECT
  found.rank,
  found.finding,
  work.place AS work_place,
  work.work_pct,
  found.is_left,
  found.finding IN (SELECT finding FROM in_function) AS is_in_function,
  coalesce(
    found.subject_kind = 'call' AND found.frees = 'idle' AND found.top_subject <> '' AND NOT found.is_in_gaps,
    false
  ) AS is_in_call,
  path.path,
  path.path_pct,
  EXISTS (
    SELECT 1
    FROM kernel_places AS launched
    WHERE substr(launched.place, 1, length(path.outermost)) <> path.outermost
  ) AS is_elsewhere,
  (SELECT tid FROM of_thread WHERE of_thread.finding = found.finding) AS tid,
  outermost.placed,
  outermost.placed_pct,
  CASE
    WHEN found.frees <> 'idle' AND first_place.unknown_pct >= 10 THEN first_place.unknown_pct
  END AS unknown_pct,
  iif(second.top_subject_pct + second.time_pct >= 80, second.top_subject, NULL) AS then_subject
FROM found
LEFT JOIN work
  ON work.finding = found.finding
LEFT JOIN path
  ON path.finding = found.finding
LEFT JOIN first_place
  ON first_place.finding = found.finding
LEFT JOIN outermost
  ON outermost.finding = found.finding
LEFT JOIN second
  ON second.finding = found.finding
ORDER BY found.rank
