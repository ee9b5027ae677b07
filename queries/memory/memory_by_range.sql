/*---
name: memory_by_range
version: 2
title: Memory by NVTX range
summary: Memory that ranges, operators or steps allocate, release and keep, and its peak.
why: To see in which step, layer or operator memory rises, and where blocks are allocated that stay.
kind: sum
tags: [cuda, gpu, memory, nvtx]
reads: [memory_event, nvtx_name, nvtx_path, nvtx_projection, step]
requires: [memory_event, nvtx_projection | gpu_op]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name, such as step* or aten::*."}
  - {name: by, type: enum, values: [folded, name, path], default: folded, doc: "Groups: ranges of the same folded name, of the same name (one row for each step, where its name has a number), or of the same path of names."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; null for the host."}
  - {name: allocator, type: text, priority: 2, doc: "Who hands out the memory: CUDA, or PyTorch's allocators, which hold memory of CUDA."}
  - {name: memory_kind, type: text, label: "memory", priority: 2, doc: "Kind of memory, such as Device or Pinned; Host for PyTorch's memory in the host; null if unknown."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Folded name, name or path, as by says; null for a range without a name. Repeated steps without ranges are step *, or step 3 by name."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges of the group in whose time memory was allocated or released."}
  - {name: peak_bytes, type: bytes, unit: bytes, label: "highest level", priority: 1, doc: "Most memory in use after an event of the process in the time of the ranges, from any thread."}
  - {name: rise_bytes, type: bytes, unit: bytes, label: "largest rise", priority: 1, doc: "Most by which the level rose in the time of one range above that at its start."}
  - {name: allocations, type: int, unit: count, priority: 2, doc: "Allocations inside the ranges, on their thread; nested ranges included."}
  - {name: allocated_bytes, type: bytes, unit: bytes, label: "allocated", priority: 1, doc: "Bytes of these allocations."}
  - {name: released_bytes, type: bytes, unit: bytes, label: "released", priority: 2, doc: "Bytes of the blocks that were released inside the ranges, on their thread."}
  - {name: growth_bytes, type: bytes, unit: bytes, label: "growth", priority: 1, doc: "allocated_bytes - released_bytes; below 0 if more is released."}
  - {name: kept_blocks, type: int, unit: count, label: "blocks kept", priority: 1, doc: "Allocations inside the ranges that were not released in the capture."}
  - {name: kept_bytes, type: bytes, unit: bytes, label: "memory kept", priority: 1, doc: "Bytes of these blocks."}
  - {name: keeping_ranges, type: int, unit: count, label: "ranges that keep", priority: 1, doc: "Ranges of range_count that keep one of these blocks. If nearly every range of a step keeps some, suspect a leak."}
checks:
  - allocations >= kept_blocks AND growth_bytes = allocated_bytes - released_bytes
  - keeping_ranges <= range_count
when_empty: "no matching range or step was open while memory was allocated or released: range_names lists the names"
limits: >-
  Do not add up rows: nested ranges hold the same allocations. An allocation belongs to the ranges of the thread that asks:
  in PyTorch's backward pass, that is autograd's thread. The level counts all threads of the process. Weights, optimizer
  state and caches stay, too, and the last ranges keep what later ones would release. The size of a block from before the
  capture is unknown for CUDA, and its release counts 0. A repeated step is the time from the last launch call of the step
  before to its own, on the thread that launches; the first begins with its first launch call.
see_also: [memory_peaks, memory_at_peak, memory_over_time, range_names]
---*/
WITH
event AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (ORDER BY at_ns, allocator, event_id) AS place,
    dense_rank() OVER (ORDER BY gpu_id, allocator, memory_kind) AS pool,
    NOT is_release AND lead(event_id) OVER (
      PARTITION BY gpu_id, allocator, memory_kind, global_pid, address
      ORDER BY at_ns, event_id
    ) IS NULL AS is_kept
  FROM memory_event
),
named AS MATERIALIZED (
  SELECT name_id, layer_name, range_name, dense_rank() OVER (ORDER BY layer_name) AS layer
  FROM nvtx_name
  WHERE layer_name GLOB :range
    OR range_name GLOB :range
    OR range_text GLOB :range
    OR range_text IS NULL AND :range = '*'
),
-- Steps that repeat without ranges have numbers below 0.
repeated AS (
  SELECT
    -row_number() OVER (ORDER BY global_tid, step) AS range_id,
    step,
    step_name,
    coalesce(lag(cpu_end_ns) OVER (PARTITION BY global_tid ORDER BY step), cpu_start_ns) AS start_ns,
    cpu_end_ns AS end_ns,
    global_tid,
    pid
  FROM step
  WHERE found = 'repeated'
),
open AS MATERIALIZED (
  SELECT
    range.range_id,
    CASE :by WHEN 'path' THEN range.path_id WHEN 'name' THEN range.name_id ELSE named.layer END AS group_id,
    range.start_ns,
    range.end_ns,
    range.global_tid,
    range.pid
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
  WHERE range.end_ns > range.start_ns
  UNION ALL
  SELECT range_id, iif(:by = 'name', -2 - step, -1), start_ns, end_ns, global_tid, pid
  FROM repeated
  WHERE end_ns > start_ns
    AND ('step *' GLOB :range OR step_name GLOB :range)
),
-- The events in the time of a range, and their levels.
levelled AS (
  SELECT
    open.group_id,
    open.range_id,
    event.pool,
    event.used_bytes,
    first_value(event.used_bytes - iif(event.is_release, -1, 1) * coalesce(event.size_bytes, 0)) OVER (
      PARTITION BY open.range_id, event.pool
      ORDER BY event.place
    ) AS start_bytes
  FROM split_spans(
    (SELECT time_spans(pid, place, at_ns, at_ns + 1) FROM event),
    (SELECT time_spans(pid, range_id, start_ns, end_ns) FROM open)
  ) AS span
  JOIN event
    ON event.place = span.span_id
  JOIN open
    ON open.range_id = span.by_id
),
level AS MATERIALIZED (
  SELECT
    group_id,
    pool,
    count(DISTINCT range_id) AS range_count,
    max(used_bytes) AS peak_bytes,
    max(0, max(used_bytes - start_bytes)) AS rise_bytes
  FROM levelled
  GROUP BY group_id, pool
),
-- What the thread of a range asks for. A group counts an event once.
asked AS MATERIALIZED (
  SELECT open.group_id, open.range_id, event.pool, event.place, event.is_release, event.size_bytes, event.is_kept
  FROM split_spans(
    (SELECT time_spans(global_tid, place, call_ns, call_ns + 1) FROM event WHERE global_tid IS NOT NULL),
    (SELECT time_spans(global_tid, range_id, start_ns, end_ns) FROM open)
  ) AS span
  JOIN event
    ON event.place = span.span_id
  JOIN open
    ON open.range_id = span.by_id
),
summed AS MATERIALIZED (
  SELECT
    group_id,
    pool,
    count(*) FILTER (WHERE NOT is_release) AS allocations,
    coalesce(sum(size_bytes) FILTER (WHERE NOT is_release), 0) AS allocated_bytes,
    coalesce(sum(size_bytes) FILTER (WHERE is_release), 0) AS released_bytes,
    count(*) FILTER (WHERE is_kept) AS kept_blocks,
    coalesce(sum(size_bytes) FILTER (WHERE is_kept), 0) AS kept_bytes
  FROM (SELECT DISTINCT group_id, pool, place, is_release, size_bytes, is_kept FROM asked)
  GROUP BY group_id, pool
),
keeping AS MATERIALIZED (
  SELECT group_id, pool, count(DISTINCT range_id) AS range_count
  FROM asked
  WHERE is_kept
  GROUP BY group_id, pool
),
labelled AS MATERIALIZED (
  SELECT
    groups.group_id,
    CASE
      WHEN groups.group_id = -1 THEN 'step *'
      WHEN groups.group_id < -1 THEN 'step ' || (-2 - groups.group_id)
      WHEN :by = 'path' THEN (SELECT path FROM nvtx_path WHERE path_id = groups.group_id)
      WHEN :by = 'name' THEN (SELECT range_name FROM nvtx_name WHERE name_id = groups.group_id)
      ELSE folded.layer_name
    END AS range_name
  FROM (SELECT DISTINCT group_id FROM level) AS groups
  LEFT JOIN (SELECT DISTINCT layer, layer_name FROM named) AS folded
    ON folded.layer = groups.group_id
)
SELECT
  pool.gpu_id,
  pool.allocator,
  pool.memory_kind,
  labelled.range_name,
  level.range_count,
  level.peak_bytes,
  level.rise_bytes,
  coalesce(summed.allocations, 0) AS allocations,
  coalesce(summed.allocated_bytes, 0) AS allocated_bytes,
  coalesce(summed.released_bytes, 0) AS released_bytes,
  coalesce(summed.allocated_bytes - summed.released_bytes, 0) AS growth_bytes,
  coalesce(summed.kept_blocks, 0) AS kept_blocks,
  coalesce(summed.kept_bytes, 0) AS kept_bytes,
  coalesce(keeping.range_count, 0) AS keeping_ranges
FROM level
JOIN (SELECT pool, gpu_id, allocator, memory_kind FROM event GROUP BY pool) AS pool
  ON pool.pool = level.pool
JOIN labelled
  ON labelled.group_id = level.group_id
LEFT JOIN summed
  ON summed.group_id = level.group_id
  AND summed.pool = level.pool
LEFT JOIN keeping
  ON keeping.group_id = level.group_id
  AND keeping.pool = level.pool
ORDER BY pool.gpu_id IS NULL, level.pool, kept_bytes DESC, rise_bytes DESC, level.group_id
LIMIT :limit
