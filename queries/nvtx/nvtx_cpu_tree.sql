/*---
name: nvtx_cpu_tree
version: 1
title: Tree of NVTX ranges on the CPU
summary: Tree of NVTX range names, with total and self time on the CPU, and its waits.
why: To walk down to the range in which the host spends its time, or waits for the GPU.
kind: sum
tags: [api, nvtx, sync]
reads: [cuda_call, nvtx_path, nvtx_projection, string]
requires: [nvtx_path]
params:
  - {name: depth, type: int, default: -1, min: -1, doc: "Deepest level to show; 0 is the top, -1 shows all levels."}
  - {name: path, type: text, default: "*", doc: "GLOB pattern for path. Shows the matching paths and everything below them."}
columns:
  - {name: tree, type: text, label: "range", priority: 0, doc: "Last name of the path, indented by two spaces per level, up to level 64."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Sum of the durations of the ranges on the CPU."}
  - {name: self_ns, type: duration, unit: ns, label: "self", priority: 1, doc: "total_ns without the ranges directly inside; less than 0 if these cross the end of their parent."}
  - {name: share_pct, type: percent, unit: percent, label: "share of all range time", priority: 1, doc: "total_ns as a share of the ranges at the top."}
  - {name: self_share_pct, type: percent, unit: percent, label: "self share of range time", priority: 2, doc: "self_ns as a share of the ranges at the top."}
  - {name: wait_ns, type: duration, unit: ns, label: "waits for the GPU", priority: 1, doc: "Time inside the ranges in CUDA calls that wait: those with Synchronize, and copies without Async, in their names."}
  - {name: self_wait_ns, type: duration, unit: ns, label: "self waits", priority: 1, doc: "wait_ns without that of the ranges directly inside."}
  - {name: cuda_ns, type: duration, unit: ns, label: "in CUDA calls", priority: 1, doc: "Time inside the ranges in CUDA calls of any kind."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges with this path."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 2, doc: "Mean duration of a range."}
  - {name: depth, type: int, unit: count, priority: 3, doc: "Number of names in the path minus 1; 0 at the top."}
  - {name: path_id, type: id, priority: 3, doc: "ID of the path in this report."}
  - {name: path, type: text, priority: 3, doc: "Range names from the outermost to the innermost, joined by ' / ', each number replaced by *."}
checks:
  - range_count >= 1 AND wait_ns <= cuda_ns
when_empty: "no path matches: without -p path, the rows show the whole tree"
limits: >-
  Ranges with the same path share a row, across threads and processes, so times of threads add up. Only calls on the
  thread of a range count. Start/end ranges may overlap each other. Self time of a range that waits in a call is in the
  call: see nvtx_host_waits for the functions.
see_also: [nvtx_host_waits, nvtx_tree, nvtx_pushpop_trace, cpu_hot]
---*/
WITH RECURSIVE
range AS MATERIALIZED (
  SELECT range_id, parent_id, path_id, global_tid, start_ns, end_ns, dur_ns
  FROM nvtx_projection
),
named AS (
  SELECT name_id, (SELECT text FROM string WHERE string_id = name_id) AS symbol
  FROM (SELECT DISTINCT name_id FROM cuda_call)
),
waits AS MATERIALIZED (
  SELECT name_id
  FROM named
  WHERE symbol GLOB '*Synchronize*'
    OR symbol GLOB 'cu*Memcpy*' AND NOT symbol GLOB '*Async*'
),
-- The last digit of the number says whether the call waits.
call AS (
  SELECT
    10 * call_id + (name_id IN (SELECT name_id FROM waits)) AS numbered_id,
    global_tid,
    start_ns,
    end_ns
  FROM cuda_call
  WHERE global_tid IN (SELECT global_tid FROM range)
),
-- A driver call inside a runtime call has no time of its own here.
inside AS MATERIALIZED (
  SELECT
    part.span_id AS range_id,
    sum(part.end_ns - part.start_ns) AS cuda_ns,
    sum(iif(part.by_id % 10 = 1, part.end_ns - part.start_ns, 0)) AS wait_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, range_id, start_ns, end_ns) FROM range),
    (SELECT time_spans_apart(global_tid, numbered_id, start_ns, end_ns) FROM call)
  ) AS part
  WHERE part.by_id IS NOT NULL
  GROUP BY part.span_id
),
timed AS MATERIALIZED (
  SELECT
    range.range_id,
    range.parent_id,
    range.path_id,
    range.dur_ns,
    coalesce(inside.cuda_ns, 0) AS cuda_ns,
    coalesce(inside.wait_ns, 0) AS wait_ns
  FROM range
  LEFT JOIN inside
    ON inside.range_id = range.range_id
),
child AS MATERIALIZED (
  SELECT parent_id AS range_id, sum(dur_ns) AS dur_ns, sum(wait_ns) AS wait_ns
  FROM timed
  WHERE parent_id IS NOT NULL
  GROUP BY parent_id
),
by_path AS MATERIALIZED (
  SELECT
    timed.path_id,
    count(*) AS range_count,
    sum(timed.dur_ns) AS total_ns,
    sum(timed.dur_ns - coalesce(child.dur_ns, 0)) AS self_ns,
    sum(timed.cuda_ns) AS cuda_ns,
    sum(timed.wait_ns) AS wait_ns,
    sum(timed.wait_ns - coalesce(child.wait_ns, 0)) AS self_wait_ns
  FROM timed
  LEFT JOIN child
    ON child.range_id = timed.range_id
  GROUP BY timed.path_id
),
sibling AS MATERIALIZED (
  SELECT
    nvtx_path.path_id,
    nvtx_path.parent_path_id,
    nvtx_path.path,
    nvtx_path.layer_name,
    nvtx_path.depth,
    by_path.*,
    row_number() OVER (
      PARTITION BY nvtx_path.parent_path_id
      ORDER BY by_path.total_ns DESC, nvtx_path.layer_name, nvtx_path.path_id
    ) AS place
  FROM nvtx_path
  JOIN by_path
    ON by_path.path_id = nvtx_path.path_id
),
top AS (
  SELECT sum(total_ns) AS total_ns
  FROM sibling
  WHERE parent_path_id IS NULL
),
-- Ordered by depth, the deepest first, SQLite walks the tree depth first: only one path has its children in the queue.
branch (path_id, is_shown, depth, place) AS (
  SELECT path_id, path GLOB :path, 0, place
  FROM sibling
  WHERE parent_path_id IS NULL
  UNION ALL
  SELECT sibling.path_id, branch.is_shown OR sibling.path GLOB :path, branch.depth + 1, sibling.place
  FROM branch
  JOIN sibling
    ON sibling.parent_path_id = branch.path_id
  WHERE :depth < 0
    OR branch.depth < :depth
  ORDER BY 3 DESC, 4
),
walked AS MATERIALIZED (
  SELECT path_id, is_shown, row_number() OVER () AS position
  FROM branch
)
SELECT
  printf('%*s', 2 * min(sibling.depth, 64), '') || sibling.layer_name AS tree,
  sibling.total_ns,
  sibling.self_ns,
  100.0 * sibling.total_ns / nullif(top.total_ns, 0) AS share_pct,
  100.0 * sibling.self_ns / nullif(top.total_ns, 0) AS self_share_pct,
  sibling.wait_ns,
  sibling.self_wait_ns,
  sibling.cuda_ns,
  sibling.range_count,
  1.0 * sibling.total_ns / sibling.range_count AS mean_ns,
  sibling.depth,
  sibling.path_id,
  sibling.path
FROM walked
JOIN sibling
  ON sibling.path_id = walked.path_id
CROSS JOIN top
WHERE walked.is_shown
ORDER BY walked.position, sibling.path_id
