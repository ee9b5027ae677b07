/*---
name: iteration
summary: One row per iteration, found by the names of NVTX ranges.
present_if: [src_nvtx_event]
stored: true
reads:
  - all_nvtx_name
  - all_nvtx_path
  - all_nvtx_projection
  - all_nvtx_span
  - all_repeated_step
  - iteration_word
  - scope
rows_if: "EXISTS (SELECT 1 FROM all_nvtx_name)"
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
  level. A name that occurs three times comes first, then one whose ranges have half of the GPU
  operations that ranges have, then the outermost. A name does not count if its ranges have less than half of the
  time from the first to the last, and less than half of the operations of a sequence that repeats as often: they are a
  part of the steps. A name that occurs once counts if there is no
  other, and if its range has nine tenths of the GPU operations that ranges have. Names of a phase, such as optimizer
  step, and C++ names (with ::) are never picked, and levels only where no range around them occurs twice in a thread.
  Ranges inside one with warm-up in its name are left out if others remain. If no name fits, or only one whose ranges
  launch nothing, the outermost name that ends in a number counts, such as Schritt 3 or frame 3, if its ranges occur
  three times, have nine tenths of the GPU operations that ranges have, and four of five do equal work: 0.8 to 1.25
  times the mean number of operations, in 0.67 to 1.5 times the mean time. Names of a part, such as layer 3, do not. If
  no name fits and no sequence of launches repeats, as in a server whose batches differ, or 2 to 8 times in each
  range, an outermost name without a number counts, such as execute_model: its ranges occur 16 times, have nine tenths
  of the GPU operations that ranges have, and half are as equal to the median. Else there are no rows. A range that
  begins inside another iteration of its thread is a part of that iteration. Iterations are those of the whole
  capture, whatever the scope leaves.
---*/
WITH
-- Inside a range of the warm-up.
warm AS MATERIALIZED (
  SELECT path_id
  FROM (SELECT path_id, lower(substr(path, 1, length(path) - length(layer_name))) AS above FROM all_nvtx_path)
  WHERE above GLOB '*warmup*'
    OR above GLOB '*warm[-_ ]up*'
),
-- Words of parts, which are no iterations. Schritt 3, frame 3 and token 3 are.
part (word) AS (
  VALUES
    ('layer'), ('layers'), ('block'), ('blocks'), ('h'), ('stage'), ('level'), ('module'), ('head'), ('expert'),
    ('bucket'), ('rank'), ('gpu'), ('device'), ('stream'), ('worker'), ('thread'), ('process'), ('node'), ('conv'),
    ('size'), ('shape'), ('dim'), ('case'), ('test'), ('kernel'), ('part'), ('tile'), ('config'), ('op'), ('id')
),
numbered_name AS MATERIALIZED (
  SELECT path.layer_name
  FROM all_nvtx_path AS path
  WHERE (SELECT coalesce(max(op_count), 0) FROM iteration_word) = 0
    AND path.layer_name GLOB '?*[*]'
    AND NOT path.layer_name GLOB '*=[*]'
    AND instr(path.layer_name, '*') = length(path.layer_name)
    AND instr(path.layer_name, '::') = 0
    AND NOT EXISTS (
      SELECT 1
      FROM part
      WHERE ' ' || lower(path.layer_name) GLOB '*[^a-z]' || part.word || '[^a-z]*'
    )
  GROUP BY path.layer_name
  HAVING sum(path.range_count) >= 3
    AND 10 * sum(path.op_count) > 9 * (SELECT sum(op_count) FROM all_nvtx_path WHERE depth = 0)
  ORDER BY min(path.path_id IN (SELECT path_id FROM warm)), min(path.depth), sum(path.cpu_ns) DESC, path.layer_name
  LIMIT 1
),
-- A name without a number, where launches do not repeat either: a server whose batches differ marks each batch so.
lone_name AS MATERIALIZED (
  SELECT path.layer_name
  FROM all_nvtx_path AS path
  WHERE (SELECT coalesce(max(op_count), 0) FROM iteration_word) = 0
    AND NOT EXISTS (SELECT 1 FROM numbered_name)
    AND path.depth = 0
    AND instr(path.layer_name, '*') = 0
    AND instr(path.layer_name, '::') = 0
    AND path.path_id NOT IN (SELECT path_id FROM warm)
    AND path.layer_name NOT IN (SELECT layer_name FROM all_nvtx_name WHERE phase IS NOT NULL)
    AND NOT EXISTS (
      SELECT 1
      FROM part
      WHERE ' ' || lower(path.layer_name) || ' ' GLOB '*[^a-z]' || part.word || '[^a-z]*'
    )
    AND path.range_count >= 16
    AND 10 * path.op_count > 9 * (SELECT sum(op_count) FROM all_nvtx_path WHERE depth = 0)
    -- Last, because to find repeats takes longer than all else. Rounds of a server are no such repeats.
    AND NOT EXISTS (
      SELECT 1
      FROM all_repeated_step
      WHERE kind = 'step'
      GROUP BY global_pid
      HAVING avg(likeness_pct) >= 85
        -- A few in each range are its parts, such as the species of a time step.
        AND NOT (
          round(1.0 * count(*) / path.range_count) BETWEEN 2 AND 8
          AND abs(count(*) - path.range_count * round(1.0 * count(*) / path.range_count)) <= 0.05 * count(*)
        )
    )
),
-- 0: the name that the scope gives; 1: that name with a number.
named AS (
  SELECT
    name_id,
    layer_name,
    iteration_name,
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
  SELECT
    name_id,
    iif(min(layer_name) OVER () = max(layer_name) OVER (), layer_name, iteration_name) AS title,
    0 AS is_numbered,
    0 AS is_lone
  FROM (SELECT *, min(place) OVER () AS best FROM named)
  WHERE place = best
  UNION ALL
  SELECT all_nvtx_name.name_id, all_nvtx_name.layer_name, 0, 0
  FROM iteration_word AS likeliest
  CROSS JOIN all_nvtx_name
  WHERE (SELECT iteration_name FROM scope) IS NULL
    AND all_nvtx_name.layer_name = likeliest.layer_name
    AND NOT likeliest.is_part
  UNION ALL
  SELECT all_nvtx_name.name_id, all_nvtx_name.layer_name, 1, 0
  FROM numbered_name
  CROSS JOIN all_nvtx_name
  WHERE (SELECT iteration_name FROM scope) IS NULL
    AND all_nvtx_name.layer_name = numbered_name.layer_name
  UNION ALL
  SELECT all_nvtx_name.name_id, all_nvtx_name.layer_name, 1, 1
  FROM lone_name
  CROSS JOIN all_nvtx_name
  WHERE (SELECT iteration_name FROM scope) IS NULL
    AND all_nvtx_name.layer_name = lone_name.layer_name
),
range AS MATERIALIZED (
  SELECT
    range_id,
    range_name,
    title,
    path_id,
    is_numbered,
    is_lone,
    start_ns,
    end_ns,
    dur_ns,
    proj_start_ns,
    proj_end_ns,
    op_count,
    pid,
    tid,
    global_tid
  FROM all_nvtx_projection
  CROSS JOIN chosen
  WHERE chosen.name_id = all_nvtx_projection.name_id
),
middle AS MATERIALIZED (
  SELECT median(op_count) AS op_count, median(proj_end_ns - proj_start_ns) AS dur_ns
  FROM range
  WHERE is_lone
),
-- reached_ns shows which ranges begin inside another range. A range that never ended contains none.
reached AS (
  SELECT
    range.*,
    range.path_id IN (SELECT path_id FROM warm) AS is_warm,
    min(range.path_id IN (SELECT path_id FROM warm)) OVER family AS all_warm,
    iif(range.is_lone, (SELECT op_count FROM middle), avg(range.op_count) OVER family) AS mean_count,
    iif(
      range.is_lone,
      (SELECT dur_ns FROM middle),
      avg(range.proj_end_ns - range.proj_start_ns) OVER family
    ) AS mean_ns,
    max(
      iif(
        (SELECT end_ns IS NULL FROM all_nvtx_span WHERE all_nvtx_span.range_id = range.range_id),
        NULL,
        range.end_ns
      )
    ) OVER (
      PARTITION BY range.is_numbered, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM range
  WINDOW family AS (PARTITION BY range.is_numbered)
),
-- Numbered ranges of equal work: each that is equal makes up for a fourth of one that is not, and without numbers for
-- one.
judged AS (
  SELECT
    *,
    max(is_numbered) OVER ()
    AND sum(
      is_numbered
      * iif(
        op_count BETWEEN 0.8 * mean_count AND 1.25 * mean_count
        AND proj_end_ns - proj_start_ns BETWEEN 0.67 * mean_ns AND 1.5 * mean_ns,
        1,
        iif(is_lone, -1, -4)
      )
    ) OVER () >= 0 AS are_regular
  FROM reached
),
-- Numbers are those of --iter, which counts the warm-up.
numbered AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY global_tid ORDER BY start_ns, range_id) - 1 AS iteration
  FROM judged
  WHERE is_numbered = are_regular
    AND (reached_ns IS NULL OR start_ns >= reached_ns)
)
SELECT
  range_id,
  title AS layer_name,
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
