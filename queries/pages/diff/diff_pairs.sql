/*---
name: diff_pairs
version: 3
title: Which work is compared
summary: Each kernel, copy, range and API function, with what it is compared with.
why: To see how names of two reports were matched, step by step.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_calls, diff_gpu_work, diff_places, diff_ranges]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: section, type: text, priority: 0, doc: "kernels, memory, layers, layers_cpu or api."}
  - {name: name, type: text, priority: 0, doc: "Name of the work."}
  - {name: path, type: text, priority: 1, doc: "Path of the NVTX range around the launch; empty if there is none."}
  - {name: match, type: text, priority: 1, doc: "How it was matched, the first that applies: exact; numbers (names differ in numbers only); function (in template arguments or parameters only; of a copy, in the kind of memory only); place (in each other's place in the step, as in diff_places); class and range (same class of kernel, other than others, and same NVTX range); range; class; none."}
  - {name: pair_id, type: id, priority: 1, doc: "Number of the pair: work with the same number is compared."}
  - {name: class, type: text, priority: 2, doc: "Class of a kernel; null in other sections."}
  - {name: in_a, type: bool, label: "in A", priority: 1, doc: "Whether a run of A has it."}
  - {name: in_b, type: bool, label: "in B", priority: 1, doc: "Whether a run of B has it."}
checks:
  - match IN ('exact', 'numbers', 'function', 'place', 'class and range', 'range', 'class', 'none')
  - in_a OR in_b
limits: >-
  Only kernels are matched by place, class and range. Several kernels may be matched with several others: then only
  their sums are compared. Kernels of one class can still compute different things.
see_also: [diff_rows]
---*/
WITH
work AS (
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_gpu_work
  UNION ALL
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_ranges
  UNION ALL
  SELECT side, section, name, shape, path, class, collective, calls, total_ns, error_ns, freedom_ns, single_ns
  FROM diff_calls
),
item AS MATERIALIZED (
  SELECT
    section,
    name,
    path,
    max(class) AS class,
    max(side < :runs_a) AS in_a,
    max(side >= :runs_a) AS in_b
  FROM work
  GROUP BY section, name, path
),
named AS (
  SELECT
    section,
    name,
    without_numbers(name) AS numbers,
    CASE section
      WHEN 'kernels' THEN without_numbers(simple_name(name))
      -- The direction, from pageable or from pinned memory.
      WHEN 'memory' THEN substr(name, 1, instr(name, ']'))
    END AS function,
    max(in_a) AS in_a,
    max(in_b) AS in_b,
    max(in_a) AND max(in_b) AS is_exact
  FROM item
  GROUP BY section, name
),
by_numbers AS (
  SELECT
    *,
    NOT is_exact
      AND max(in_a) OVER left_over
      AND max(in_b) OVER left_over AS is_numbers
  FROM named
  WINDOW left_over AS (PARTITION BY section, is_exact, numbers)
),
by_function AS (
  SELECT
    *,
    function IS NOT NULL
      AND NOT is_exact
      AND NOT is_numbers
      AND max(in_a) OVER left_over
      AND max(in_b) OVER left_over AS is_function
  FROM by_numbers
  WINDOW left_over AS (PARTITION BY section, is_exact, is_numbers, function)
),
place AS MATERIALIZED (
  SELECT numbers, min(replaced_by) AS replaced_by
  FROM diff_places
  WHERE replaced_by IS NOT NULL
  GROUP BY numbers
),
by_place AS (
  SELECT
    by_function.*,
    place.replaced_by,
    place.replaced_by IS NOT NULL
      AND by_function.section = 'kernels'
      AND NOT is_exact
      AND NOT is_numbers
      AND NOT is_function
      AND max(in_a) OVER left_over
      AND max(in_b) OVER left_over AS is_place
  FROM by_function
  LEFT JOIN place
    ON place.numbers = by_function.numbers
  WINDOW left_over AS (PARTITION BY section, is_exact, is_numbers, is_function, replaced_by)
),
by_name AS (
  SELECT
    item.*,
    CASE
      WHEN by_place.is_exact THEN 'exact'
      WHEN by_place.is_numbers THEN 'numbers'
      WHEN by_place.is_function THEN 'function'
      WHEN by_place.is_place THEN 'place'
      WHEN item.section <> 'kernels' THEN 'none'
    END AS name_match,
    by_place.numbers,
    by_place.function,
    by_place.replaced_by
  FROM item
  JOIN by_place
    ON by_place.section = item.section
    AND by_place.name = item.name
),
by_both AS (
  SELECT
    *,
    name_match IS NULL
      AND class <> 'others'
      AND path <> ''
      AND max(in_a) OVER left_over
      AND max(in_b) OVER left_over AS is_both
  FROM by_name
  WINDOW left_over AS (PARTITION BY name_match, path, class)
),
by_range AS (
  SELECT
    *,
    name_match IS NULL
      AND NOT is_both
      AND path <> ''
      AND max(in_a) OVER left_over
      AND max(in_b) OVER left_over AS is_range
  FROM by_both
  WINDOW left_over AS (PARTITION BY name_match, is_both, path)
),
by_class AS (
  SELECT
    *,
    CASE
      WHEN name_match IS NOT NULL THEN name_match
      WHEN is_both THEN 'class and range'
      WHEN is_range THEN 'range'
      WHEN class <> 'others' AND max(in_a) OVER left_over AND max(in_b) OVER left_over THEN 'class'
      ELSE 'none'
    END AS match
  FROM by_range
  WINDOW left_over AS (PARTITION BY name_match, is_both, is_range, class)
),
keyed AS (
  SELECT
    *,
    CASE match
      WHEN 'numbers' THEN numbers
      WHEN 'function' THEN function
      WHEN 'place' THEN replaced_by
      WHEN 'class and range' THEN path || char(10) || class
      WHEN 'range' THEN path
      WHEN 'class' THEN class
      ELSE name
    END AS key
  FROM by_class
)
SELECT
  section,
  name,
  path,
  match,
  dense_rank() OVER (ORDER BY section, match, key) AS pair_id,
  class,
  in_a,
  in_b
FROM keyed
ORDER BY section, pair_id, name, path
