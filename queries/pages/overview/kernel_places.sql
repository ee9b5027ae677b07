/*---
name: kernel_places
version: 1
title: Where kernels are launched
summary: The range that launches most of the time of each function of kernels.
why: To say in which part of the program the kernels run that bind a step.
kind: info
internal: true
tags: [kernel, nvtx]
reads: [gpu_window, iteration, nvtx_path, nvtx_path_kernel, string]
requires: [nvtx_path_kernel, nvtx_path]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE 2 * compute_ns >= window_ns)
columns:
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Function of the kernels. The ten with the most time have a row if one place launches three tenths."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Their time."}
  - {name: place, type: text, label: "range", priority: 0, doc: "Name of the innermost range around the launches that is no operator and no iteration, each number replaced by *, after the name of the range around it if that is none either."}
  - {name: place_pct, type: percent, unit: percent, label: "% of the time", priority: 1, doc: "Time of the kernels that are launched there, as a share of total_ns; 30 or more."}
checks:
  - place_pct BETWEEN 30 AND 100
when_empty: "no range other than operators and iterations launches three tenths of the time of a kernel"
limits: >-
  Only where kernels run for half of the time of a GPU. An operator has :: in its name, or the prefix cpu_op. A range
  that launches 95 % of the time of all kernels is no place. The times are of the scope, not only of its steps.
see_also: [nvtx_kernels, kernel_families]
---*/
WITH RECURSIVE
spent AS MATERIALIZED (
  SELECT path_id, name_id, sum(total_ns) AS total_ns
  FROM nvtx_path_kernel
  WHERE EXISTS (SELECT 1 FROM gpu_window WHERE 2 * compute_ns >= window_ns)
  GROUP BY path_id, name_id
),
function AS MATERIALIZED (
  SELECT string.string_id AS name_id, simple_name(string.text) AS kernel_name
  FROM string
  WHERE string.string_id IN (SELECT name_id FROM spent)
),
longest AS MATERIALIZED (
  SELECT function.kernel_name, sum(spent.total_ns) AS total_ns
  FROM spent
  JOIN function
    ON function.name_id = spent.name_id
  GROUP BY function.kernel_name
  ORDER BY total_ns DESC, function.kernel_name
  LIMIT 10
),
path AS MATERIALIZED (
  SELECT
    path_id,
    parent_path_id,
    layer_name,
    instr(layer_name, '::') > 0
    OR layer_name GLOB 'cpu_op:*'
    OR layer_name IN (SELECT DISTINCT layer_name FROM iteration) AS is_passed
  FROM nvtx_path
),
-- Up from each path to the first range that is a part of the program.
above (path_id, at_id) AS (
  SELECT DISTINCT path_id, path_id
  FROM spent
  WHERE path_id IS NOT NULL
  UNION ALL
  SELECT above.path_id, path.parent_path_id
  FROM above
  JOIN path
    ON path.path_id = above.at_id
  WHERE path.is_passed
    AND path.parent_path_id IS NOT NULL
),
placed AS MATERIALIZED (
  SELECT above.path_id, iif(around.is_passed = 0, around.layer_name || ' / ', '') || path.layer_name AS place
  FROM above
  JOIN path
    ON path.path_id = above.at_id
  LEFT JOIN path AS around
    ON around.path_id = path.parent_path_id
  WHERE NOT path.is_passed
),
-- A range around nearly all kernels says nothing about one.
common AS MATERIALIZED (
  SELECT placed.place
  FROM placed
  JOIN spent
    ON spent.path_id = placed.path_id
  GROUP BY placed.place
  HAVING sum(spent.total_ns) >= 0.95 * (SELECT sum(total_ns) FROM spent)
),
shared AS (
  SELECT
    longest.kernel_name,
    longest.total_ns,
    placed.place,
    100.0 * sum(spent.total_ns) / longest.total_ns AS place_pct,
    row_number() OVER (
      PARTITION BY longest.kernel_name
      ORDER BY sum(spent.total_ns) DESC, placed.place
    ) AS nth
  FROM longest
  JOIN function
    ON function.kernel_name = longest.kernel_name
  JOIN spent
    ON spent.name_id = function.name_id
  JOIN placed
    ON placed.path_id = spent.path_id
  GROUP BY longest.kernel_name, longest.total_ns, placed.place
)
SELECT kernel_name, total_ns, place, place_pct
FROM shared
WHERE nth = 1
  AND place_pct >= 30
  AND place NOT IN (SELECT place FROM common)
ORDER BY total_ns DESC, kernel_name
