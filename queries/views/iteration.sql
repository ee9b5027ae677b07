/*---
name: iteration
summary: One row per iteration, found by the names of NVTX ranges.
present_if: [src_nvtx_event]
stored: true
reads: [all_nvtx_name, all_nvtx_path, all_nvtx_projection, all_nvtx_span, scope]
columns:
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table."}
  - {name: layer_name, type: text, doc: "Name of the iterations, each number replaced by *; the scope's pattern if it matches several of these. The same in all rows."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain."}
  - {name: iteration, type: int, doc: "Position by start among the iterations of the thread, from 0. Those inside a warm-up count, too."}
  - {name: iteration_count, type: int, unit: count, doc: "Iterations of the thread."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range on the CPU. A range that never ended ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "Start of its first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "End of its last operation on the GPU; null without GPU work."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the range."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  The ranges that the scope names; else those of the folded name that occurs at least twice and contains iteration or
  iter, else step, else batch, else epoch, else a word that ends in Iteration or Step, such as BenchIteration, else
  level. A name that occurs three times comes first, then the outermost. A name that occurs once counts if there is no other,
  and if its range has nine tenths of the GPU operations that ranges have. Names of a phase, such as optimizer step, and
  C++ names (with ::) are never picked, and levels only where no range around them occurs twice in a thread. Ranges
  inside one with warm-up in its name are left out if others remain. If no name fits, there are no rows. A range that
  begins inside another iteration of its thread is a part of that iteration. Iterations are those of the whole capture,
  whatever the scope leaves.
---*/
WITH RECURSIVE
word (word, place) AS (
  VALUES
    ('iteration', 1),
    ('iter', 1),
    ('step', 2),
    ('profilerstep', 2),
    ('trainstep', 2),
    ('batch', 3),
    ('epoch', 4),
    ('level', 6)
),
-- Looking for words takes longer than all else.
worded AS MATERIALIZED (
  SELECT
    layer_name,
    coalesce(
      (
        SELECT min(place)
        FROM word
        WHERE ' ' || lower(layer_name) || ' ' GLOB '*[^a-z]' || word || '[^a-z]*'
      ),
      CASE
        WHEN layer_name GLOB '*Forward*' OR layer_name GLOB '*Backward*' THEN NULL
        WHEN layer_name GLOB '*[Oo]ptimi[sz]er*' THEN NULL
        WHEN layer_name || ' ' GLOB '*[a-z]Iteration[^a-z]*' OR layer_name || ' ' GLOB '*[a-z]Step[^a-z]*' THEN 5
      END
    ) AS place
  FROM (SELECT DISTINCT layer_name FROM all_nvtx_path)
  WHERE instr(layer_name, '::') = 0
    -- The warm-up comes before the steps.
    AND NOT (lower(layer_name) GLOB '*warmup*' OR lower(layer_name) GLOB '*warm[-_ ]up*')
),
likely AS MATERIALIZED (
  SELECT layer_name, place
  FROM worded
  WHERE place IS NOT NULL
),
-- Inside a range of the warm-up.
warm AS MATERIALIZED (
  SELECT path_id
  FROM (SELECT path_id, lower(substr(path, 1, length(path) - length(layer_name))) AS above FROM all_nvtx_path)
  WHERE above GLOB '*warmup*'
    OR above GLOB '*warm[-_ ]up*'
),
-- Levels inside a range that occurs again are a part of what it marks, such as a cycle of a solver.
around (layer_name, level_id, path_id) AS MATERIALIZED (
  SELECT layer_name, path_id, parent_path_id
  FROM all_nvtx_path
  WHERE layer_name IN (SELECT layer_name FROM likely WHERE place = 6)
  UNION ALL
  SELECT around.layer_name, around.level_id, path.parent_path_id
  FROM around
  JOIN all_nvtx_path AS path
    ON path.path_id = around.path_id
),
again AS MATERIALIZED (
  SELECT DISTINCT path_id
  -- Nothing is read if no level is inside a range.
  FROM (SELECT 1 FROM around WHERE path_id IS NOT NULL LIMIT 1)
  CROSS JOIN all_nvtx_projection
  WHERE path_id IN (SELECT path_id FROM around)
  GROUP BY path_id, global_tid
  HAVING count(*) > 1
),
level AS MATERIALIZED (
  SELECT layer_name
  FROM around
  GROUP BY layer_name, level_id
  HAVING sum(path_id IN (SELECT path_id FROM again)) = 0
),
likeliest AS (
  SELECT path.layer_name
  FROM all_nvtx_path AS path
  JOIN likely
    ON likely.layer_name = path.layer_name
  WHERE path.layer_name NOT IN (
    SELECT layer_name
    FROM all_nvtx_name
    WHERE iif(layer_name IN (SELECT layer_name FROM likely), phase, NULL) IS NOT NULL
  )
  GROUP BY path.layer_name
  HAVING (
      sum(path.range_count) >= 2
      -- The only step of a capture, not a phase that has a number.
      OR min(likely.place) < 5
        AND 10 * sum(path.op_count) > 9 * (SELECT sum(op_count) FROM all_nvtx_path WHERE depth = 0)
    )
    AND (min(likely.place) < 6 OR sum(path.op_count) > 0 AND path.layer_name IN (SELECT layer_name FROM level))
  ORDER BY
    min(path.path_id IN (SELECT path_id FROM warm)),
    sum(path.range_count) < 2,
    sum(path.range_count) < 3,
    min(likely.place),
    min(path.depth),
    sum(path.op_count) = 0,
    sum(path.cpu_ns) DESC,
    path.layer_name
  LIMIT 1
),
-- 0: the name that the scope gives; 1: that name with a number.
named AS (
  SELECT
    name_id,
    iif(
      layer_name GLOB iteration_name OR range_name GLOB iteration_name OR range_text GLOB iteration_name,
      0,
      1
    ) AS place
  FROM scope
  CROSS JOIN all_nvtx_name
  WHERE iteration_name IS NOT NULL
    AND (
      layer_name GLOB iteration_name
      OR range_name GLOB iteration_name
      OR range_text GLOB iteration_name
      OR without_numbers(range_text) GLOB iteration_name || '[*]'
      OR without_numbers(range_text) GLOB iteration_name || '?[*]'
    )
),
chosen AS MATERIALIZED (
  SELECT name_id
  FROM named
  WHERE place = (SELECT min(place) FROM named)
  UNION ALL
  SELECT name_id
  FROM all_nvtx_name
  WHERE (SELECT iteration_name FROM scope) IS NULL
    AND layer_name = (SELECT layer_name FROM likeliest)
),
-- reached_ns shows which ranges begin inside another range. A range that never ended contains none.
reached AS (
  SELECT
    range.range_id,
    range.range_name,
    range.name_id,
    range.path_id IN (SELECT path_id FROM warm) AS is_warm,
    min(range.path_id IN (SELECT path_id FROM warm)) OVER () AS all_warm,
    range.start_ns,
    range.end_ns,
    range.dur_ns,
    range.proj_start_ns,
    range.proj_end_ns,
    range.op_count,
    range.pid,
    range.tid,
    range.global_tid,
    max(
      iif(
        (SELECT end_ns IS NULL FROM all_nvtx_span WHERE all_nvtx_span.range_id = range.range_id),
        NULL,
        range.end_ns
      )
    ) OVER (
      PARTITION BY range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM all_nvtx_projection AS range
  WHERE range.name_id IN (SELECT name_id FROM chosen)
),
-- Numbers are those of --iter, which counts the warm-up.
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY global_tid ORDER BY start_ns, range_id) - 1 AS iteration
  FROM reached
  WHERE reached_ns IS NULL
    OR start_ns >= reached_ns
)
SELECT
  range_id,
  CASE
    WHEN (SELECT count(DISTINCT layer_name) FROM all_nvtx_name WHERE name_id IN (SELECT name_id FROM chosen)) > 1
      THEN (SELECT iteration_name FROM scope)
    ELSE (SELECT layer_name FROM all_nvtx_name WHERE all_nvtx_name.name_id = numbered.name_id)
  END AS layer_name,
  range_name,
  iteration,
  count(*) OVER (PARTITION BY global_tid) AS iteration_count,
  start_ns,
  end_ns,
  dur_ns,
  proj_start_ns,
  proj_end_ns,
  op_count,
  pid,
  tid,
  global_tid
FROM numbered
WHERE NOT is_warm
  OR all_warm
