/*---
name: nvtx_host_waits
version: 1
title: Calls of the host by NVTX range
summary: Time in calls that wait, per innermost NVTX range and function, longest first.
why: To find the range that holds the synchronizations, copies or OS calls that block the host.
kind: sum
tags: [api, cuda, nvtx, osrt, sync]
reads: [cuda_call, mpi_call, nvtx_path, nvtx_projection, os_call, string]
requires: [cuda_call | os_call | mpi_call]
params:
  - {name: calls, type: enum, values: [waits, cuda, os, mpi, all], default: waits, doc: "Calls that count: CUDA calls that wait for the GPU, all CUDA calls, OS calls, MPI calls, or all of these."}
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the path of ranges, such as '*forward*'."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: range_path, type: text, label: "range", priority: 0, doc: "Ranges around the calls, from the outermost to the innermost, joined by ' / ', each number replaced by *; null outside all ranges."}
  - {name: function_name, type: text, label: "function", priority: 0, doc: "Function that was called, such as cudaStreamSynchronize."}
  - {name: call_kind, type: text, label: "kind", priority: 2, doc: "Kind of call: sync (a CUDA call that waits by its name), copy (a CUDA copy without Async in its name), other CUDA call, OS call, or MPI call."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Sum of call durations over all threads."}
  - {name: time_pct, type: percent, unit: percent, label: "share of these calls", priority: 1, doc: "total_ns as a share of all calls that count, in any range."}
  - {name: range_pct, type: percent, unit: percent, label: "share of range time", priority: 1, doc: "total_ns as a share of the time of the ranges of this path on the CPU; null outside all ranges."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 2, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 3, doc: "Median duration of a call."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Longest call."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 2, doc: "Ranges with this path; null outside all ranges."}
  - {name: threads, type: int, unit: count, priority: 3, doc: "Threads that made the calls."}
  - {name: path_id, type: id, priority: 3, doc: "ID of the path in nvtx_path; null outside all ranges."}
checks:
  - calls >= 1 AND total_ns >= max_ns
  - time_pct BETWEEN 0 AND 100.000001
when_empty: "no call of this kind was recorded in a range that matches; -p calls=all takes all kinds"
limits: >-
  A call belongs to the innermost push/pop range that is open on its thread when it starts. Only the name of a CUDA call
  shows whether it waits. Of calls of a library inside each other, such as a driver call in a runtime call, the outermost
  counts, among those that count. OS calls can be inside CUDA calls, so with -p calls=all their times overlap. Calls of other threads
  than the range's are outside it.
see_also: [nvtx_tree, cuda_api_sync, host_sync, gpu_idle_host_sum]
---*/
WITH
-- Few rows: names of functions are compared once each.
function AS MATERIALIZED (
  SELECT
    string_id AS name_id,
    CASE
      WHEN rtrim(text, '0123456789') GLOB '*_v' AND text GLOB '*[0-9]'
        THEN substr(text, 1, length(rtrim(text, '0123456789')) - 2)
      ELSE text
    END AS function_name,
    CASE
      WHEN text GLOB '*Synchronize*' THEN 'sync'
      WHEN text GLOB 'cu*Memcpy*' AND NOT text GLOB '*Async*' THEN 'copy'
      ELSE 'other CUDA call'
    END AS call_kind
  FROM string
  WHERE string_id IN (SELECT name_id FROM cuda_call WHERE :calls IN ('waits', 'cuda', 'all'))
),
wanted AS MATERIALIZED (
  SELECT name_id, function_name, call_kind, min(name_id) OVER (PARTITION BY function_name) AS function_id
  FROM function
  WHERE :calls <> 'waits'
    OR call_kind IN ('sync', 'copy')
),
made AS (
  SELECT 0 AS library, cuda_call.global_tid, cuda_call.start_ns, cuda_call.end_ns, wanted.function_id, NULL AS mpi_name
  FROM cuda_call
  JOIN wanted
    ON wanted.name_id = cuda_call.name_id
  UNION ALL
  SELECT 1, global_tid, start_ns, end_ns, name_id, NULL
  FROM os_call
  WHERE :calls IN ('os', 'all')
    AND event_class = 27
  UNION ALL
  SELECT 2, global_tid, start_ns, end_ns, NULL, mpi_name
  FROM mpi_call
  WHERE :calls IN ('mpi', 'all')
),
nested AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY library, global_tid
      ORDER BY start_ns, end_ns DESC, function_id, mpi_name
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM made
),
call AS MATERIALIZED (
  SELECT row_number() OVER () AS id, library, global_tid, start_ns, end_ns, function_id, mpi_name
  FROM nested
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
),
range AS MATERIALIZED (
  SELECT range_id, parent_id, depth, start_ns, end_ns, global_tid, path_id
  FROM nvtx_projection
  WHERE range_kind = 'PushPop'
    AND end_ns > start_ns
),
-- At the end of a range, the thread is in its parent again.
event AS (
  SELECT global_tid, start_ns AS at_ns, 2 AS place, 0 AS nesting, id, 0 AS is_range, NULL AS path_id
  FROM call
  UNION ALL
  SELECT global_tid, start_ns, 1, depth, NULL, 1, path_id
  FROM range
  UNION ALL
  SELECT range.global_tid, range.end_ns, 0, -range.depth, NULL, 1, parent.path_id
  FROM range
  LEFT JOIN range AS parent
    ON parent.range_id = range.parent_id
),
counted AS (
  SELECT
    *,
    sum(is_range) OVER (
      PARTITION BY global_tid
      ORDER BY at_ns, place, nesting, id
      ROWS UNBOUNDED PRECEDING
    ) AS range_events
  FROM event
),
-- The first row of each number of range events is itself an event, unless that number is 0.
placed AS MATERIALIZED (
  SELECT id, path_id
  FROM (
    SELECT
      id,
      first_value(path_id) OVER (
        PARTITION BY global_tid, range_events
        ORDER BY at_ns, place, nesting, id
        ROWS UNBOUNDED PRECEDING
      ) AS path_id
    FROM counted
  )
  WHERE id IS NOT NULL
),
summed AS MATERIALIZED (
  SELECT
    placed.path_id,
    call.library,
    call.function_id,
    call.mpi_name,
    count(*) AS calls,
    sum(call.end_ns - call.start_ns) AS total_ns,
    median(call.end_ns - call.start_ns) AS median_ns,
    max(call.end_ns - call.start_ns) AS max_ns,
    count(DISTINCT call.global_tid) AS threads,
    sum(sum(call.end_ns - call.start_ns)) OVER () AS all_ns
  FROM call
  JOIN placed
    ON placed.id = call.id
  GROUP BY placed.path_id, call.library, call.function_id, call.mpi_name
),
path AS MATERIALIZED (
  SELECT path_id, path, cpu_ns, range_count
  FROM nvtx_path
  WHERE path_id IN (SELECT path_id FROM summed)
)
SELECT
  path.path AS range_path,
  CASE summed.library
    WHEN 0 THEN wanted.function_name
    WHEN 1 THEN (SELECT text FROM string WHERE string_id = summed.function_id)
    ELSE summed.mpi_name
  END AS function_name,
  CASE summed.library WHEN 0 THEN wanted.call_kind WHEN 1 THEN 'OS call' ELSE 'MPI call' END AS call_kind,
  summed.calls,
  summed.total_ns,
  100.0 * summed.total_ns / nullif(summed.all_ns, 0) AS time_pct,
  100.0 * summed.total_ns / nullif(path.cpu_ns, 0) AS range_pct,
  1.0 * summed.total_ns / summed.calls AS mean_ns,
  summed.median_ns,
  summed.max_ns,
  path.range_count,
  summed.threads,
  summed.path_id
FROM summed
LEFT JOIN path
  ON path.path_id = summed.path_id
LEFT JOIN wanted
  ON wanted.name_id = summed.function_id
  AND summed.library = 0
WHERE coalesce(path.path, '') GLOB :range
ORDER BY summed.total_ns DESC, summed.calls DESC, summed.path_id, call_kind, function_name
LIMIT :limit
