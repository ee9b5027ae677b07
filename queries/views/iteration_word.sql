/*---
name: iteration_word
summary: One row for the name of ranges whose words say that they mark iterations.
stored: true
internal: true
present_if: [nvtx_projection]
reads: [all_nvtx_name, all_nvtx_path, all_nvtx_projection, all_repeated_step]
rows_if: "EXISTS (SELECT 1 FROM all_nvtx_name)"
columns:
  - {name: layer_name, type: text, doc: "The name, each number replaced by *."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside its ranges."}
  - {name: is_part, type: bool, doc: "1 if its ranges mark a part of the steps, such as a hook at the end of each."}
limits: >-
  iteration has the rules. A part holds less than half of the time from the first range to the last, and less than half
  of the GPU operations of a sequence that repeats as often in the same processes.
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
likeliest AS MATERIALIZED (
  SELECT path.layer_name, sum(path.op_count) AS op_count
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
    sum(path.op_count) = 0,
    sum(path.range_count) < 2,
    sum(path.range_count) < 3,
    -- A part of what outer ranges mark, such as load_iteration_data in step 3.
    2 * sum(path.op_count) < (SELECT sum(op_count) FROM all_nvtx_path WHERE depth = 0),
    min(likely.place),
    min(path.depth),
    sum(path.cpu_ns) DESC,
    path.layer_name
  LIMIT 1
),
-- What the ranges of this name hold in each process.
held AS MATERIALIZED (
  SELECT
    global_tid & -16777216 AS global_pid,
    count(*) AS range_count,
    sum(op_count) AS op_count,
    sum(dur_ns) AS dur_ns,
    max(end_ns) - min(start_ns) AS span_ns
  FROM all_nvtx_projection
  WHERE name_id IN (
    SELECT name_id
    FROM all_nvtx_name
    WHERE layer_name = (SELECT layer_name FROM likeliest)
  )
  GROUP BY global_tid & -16777216
)
SELECT
  layer_name,
  op_count,
  (
    -- Repeats are looked for only if the ranges are short, because that takes longest.
    SELECT count(*) BETWEEN 3 AND 1.1 * max(mark.range_count) AND 2 * max(mark.op_count) < sum(found.op_count)
    FROM (
      SELECT sum(range_count) AS range_count, sum(op_count) AS op_count
      FROM held
      HAVING 2 * sum(dur_ns) < sum(span_ns)
    ) AS mark
    CROSS JOIN all_repeated_step AS found
    WHERE found.kind = 'step'
      AND found.global_pid IN (SELECT global_pid FROM held)
  ) IS TRUE AS is_part
FROM likeliest
