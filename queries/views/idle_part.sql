/*---
name: idle_part
summary: One row per interval of a GPU's gap, with what the thread that launched the next operation did.
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, gpu_gap, graph_trace, kernel, memcpy, memset]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns. The intervals of a gap add up to it."}
  - {name: part, type: text, doc: "What the thread did: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown. gpu_idle_causes explains each. Filter by one."}
  - {name: api_name, type: text, doc: "Function that the thread was in, the outermost of its kind; null outside the CUDA API, for queued and for unknown."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the whole gap."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap."}
  - {name: pid, type: id, doc: "Operating system process ID of the thread; null if unknown."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs; null if unknown."}
  - {name: before_kind, type: text, doc: "Kind of the last operation to end before the gap: kernel, memcpy, memset or graph; null at the start of the window."}
  - {name: before_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the start of the window."}
  - {name: before_name, type: text, doc: "Name of that operation, as in gpu_op; null at the start of the window."}
  - {name: after_kind, type: text, doc: "Kind of the operation that starts at the end of the gap; null at the end of the window."}
  - {name: after_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the end of the window."}
  - {name: after_name, type: text, doc: "Name of that operation, as in gpu_op; null at the end of the window."}
limits: >-
  Only gaps of whole GPUs, as in gpu_gap with the level gpu. A wait or an allocation inside another call counts as wait
  or allocation. Only the name of a call tells whether it waits.
---*/
-- LIMIT -1 makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
gap AS (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS gap_number, *
  FROM gpu_gap
  WHERE level = 'gpu'
  LIMIT -1
),
next_op AS (
  SELECT
    gap_number,
    gpu_id,
    start_ns,
    end_ns,
    -- Without the CAST, SQLite does not index this column, and compares each call with each gap.
    CAST(
      CASE after_kind
        WHEN 'kernel' THEN (SELECT correlation_id FROM kernel WHERE kernel_id = after_id)
        WHEN 'memcpy' THEN (SELECT correlation_id FROM memcpy WHERE memcpy_id = after_id)
        WHEN 'memset' THEN (SELECT correlation_id FROM memset WHERE memset_id = after_id)
        WHEN 'graph' THEN (SELECT correlation_id FROM graph_trace WHERE graph_trace_id = after_id)
      END AS INTEGER
    ) AS correlation_id,
    CASE after_kind
      WHEN 'kernel' THEN (SELECT global_pid FROM kernel WHERE kernel_id = after_id)
      WHEN 'memcpy' THEN (SELECT global_pid FROM memcpy WHERE memcpy_id = after_id)
      WHEN 'memset' THEN (SELECT global_pid FROM memset WHERE memset_id = after_id)
      WHEN 'graph' THEN (SELECT global_pid FROM graph_trace WHERE graph_trace_id = after_id)
    END AS global_pid
  FROM gap
  LIMIT -1
),
-- Read the calls once, and look up the gaps of each. Of nested calls, the outermost is the launch.
launch AS (
  SELECT *
  FROM (
    SELECT
      next_op.gap_number,
      next_op.gpu_id,
      next_op.start_ns AS from_ns,
      next_op.end_ns AS to_ns,
      api.global_tid,
      api.pid,
      api.tid,
      api.name_id,
      -- Clipped to the gap.
      max(min(api.start_ns, next_op.end_ns), next_op.start_ns) AS call_start_ns,
      max(min(api.end_ns, next_op.end_ns), next_op.start_ns) AS call_end_ns,
      row_number() OVER (PARTITION BY next_op.gap_number ORDER BY api.start_ns, api.end_ns DESC, api.call_id) AS nth
    FROM all_cuda_call AS api
    CROSS JOIN next_op
    WHERE next_op.correlation_id = api.correlation_id
      AND next_op.global_pid = api.global_pid
      AND api.correlation_id <> 0
  )
  WHERE nth = 1
  LIMIT -1
),
-- Classify each name once, by its ID.
function AS (
  SELECT name_id, (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS api_name
  FROM (SELECT name_id, min(call_id) AS any_call_id FROM all_cuda_call GROUP BY name_id)
  LIMIT -1
),
function_kind AS (
  SELECT
    name_id,
    CASE
      -- Calls that build a CUDA graph neither wait nor allocate.
      WHEN api_name GLOB 'cu*Graph*' THEN 3
      WHEN api_name GLOB '*Synchronize*'
        OR (api_name GLOB 'cu*Memcpy*' OR api_name GLOB 'cu*Memset*') AND NOT api_name GLOB '*Async*'
        THEN 1
      WHEN api_name GLOB 'cu*Malloc*'
        OR api_name GLOB 'cu*Free*'
        OR api_name GLOB 'cu*MemAlloc*'
        OR api_name GLOB 'cu*HostAlloc*'
        OR api_name GLOB 'cu*Host*egister*'
        OR api_name GLOB 'cuMem*Create*'
        OR api_name GLOB 'cuMem*Map*'
        OR api_name GLOB 'cuMemRelease*'
        OR api_name GLOB 'cuMemSetAccess*'
        OR api_name GLOB 'cuMemAddress*'
        OR api_name GLOB 'cu*MemPool*'
        THEN 2
      ELSE 3
    END AS kind
  FROM function
  LIMIT -1
),
-- Each call of a kind, after all earlier calls of this kind on its thread: no two overlap.
call AS (
  SELECT *
  FROM (
    SELECT
      api.call_id,
      api.name_id,
      api.global_tid,
      function_kind.kind,
      max(api.start_ns, coalesce(max(api.end_ns) OVER earlier, api.start_ns)) AS from_ns,
      api.end_ns
    FROM all_cuda_call AS api
    JOIN function_kind
      ON function_kind.name_id IS NOT DISTINCT FROM api.name_id
    WINDOW earlier AS (
      PARTITION BY api.global_tid, function_kind.kind
      ORDER BY api.start_ns, api.end_ns DESC, api.call_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
  )
  WHERE end_ns > from_ns
  LIMIT -1
),
-- A thread can launch work on several GPUs. It has a timeline for each.
thread AS (
  SELECT DISTINCT global_tid, gpu_id
  FROM launch
  WHERE call_start_ns > from_ns
  LIMIT -1
),
-- Both ends of each call, and of the time before each launch.
event AS (
  SELECT thread.global_tid, thread.gpu_id, call.from_ns AS at_ns, call.kind, call.call_id AS opens, 0 AS gap
  FROM thread
  JOIN call
    ON call.global_tid = thread.global_tid
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, call.end_ns, call.kind, -call.call_id, 0
  FROM thread
  JOIN call
    ON call.global_tid = thread.global_tid
  UNION ALL
  SELECT global_tid, gpu_id, from_ns, 0, 0, gap_number
  FROM launch
  WHERE call_start_ns > from_ns
  UNION ALL
  SELECT global_tid, gpu_id, call_start_ns, 0, 0, -gap_number
  FROM launch
  WHERE call_start_ns > from_ns
),
-- At most one call of a kind and one gap are open at a time, so that the sums of IDs are IDs.
swept AS (
  SELECT
    global_tid,
    gpu_id,
    at_ns AS start_ns,
    lead(at_ns) OVER (PARTITION BY global_tid, gpu_id ORDER BY at_ns) AS end_ns,
    sum(gap) OVER so_far AS gap_number,
    sum(iif(kind = 1, opens, 0)) OVER so_far AS sync_call_id,
    sum(iif(kind = 2, opens, 0)) OVER so_far AS alloc_call_id,
    sum(iif(kind = 3, opens, 0)) OVER so_far AS api_call_id
  FROM event
  -- All events of one time count at once.
  WINDOW so_far AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
),
segment AS (
  SELECT
    gap_number,
    start_ns,
    end_ns,
    CASE
      WHEN sync_call_id <> 0 THEN 1
      WHEN alloc_call_id <> 0 THEN 2
      WHEN api_call_id <> 0 THEN 3
      ELSE 4
    END AS place,
    (
      SELECT name_id
      FROM all_cuda_call
      WHERE call_id = coalesce(nullif(sync_call_id, 0), nullif(alloc_call_id, 0), api_call_id)
    ) AS name_id
  FROM swept
  WHERE gap_number <> 0
    AND end_ns > start_ns
),
-- Neither a nested call of a lesser kind nor a call right after another of its function splits an interval.
marked AS (
  SELECT
    *,
    place IS DISTINCT FROM lag(place) OVER in_order OR name_id IS DISTINCT FROM lag(name_id) OVER in_order AS starts
  FROM segment
  WINDOW in_order AS (PARTITION BY gap_number ORDER BY start_ns)
),
numbered AS (
  SELECT *, sum(starts) OVER (PARTITION BY gap_number ORDER BY start_ns ROWS UNBOUNDED PRECEDING) AS nth
  FROM marked
),
before_launch AS (
  SELECT
    gap_number,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    min(place) AS place,
    min(name_id) AS name_id
  FROM numbered
  GROUP BY gap_number, nth
),
part AS (
  SELECT gap_number, start_ns, end_ns, place, name_id
  FROM before_launch
  UNION ALL
  SELECT gap_number, call_start_ns, call_end_ns, 5, name_id
  FROM launch
  WHERE call_end_ns > call_start_ns
  UNION ALL
  SELECT gap_number, call_end_ns, to_ns, 6, NULL
  FROM launch
  WHERE to_ns > call_end_ns
  UNION ALL
  SELECT gap_number, start_ns, end_ns, 7, NULL
  FROM gap
  WHERE gap_number NOT IN (SELECT gap_number FROM launch)
)
SELECT
  gap.gpu_id,
  gap.device_id,
  part.start_ns,
  part.end_ns,
  part.end_ns - part.start_ns AS dur_ns,
  CASE part.place
    WHEN 1 THEN 'host sync'
    WHEN 2 THEN 'memory allocation'
    WHEN 3 THEN 'other API call'
    WHEN 4 THEN 'outside CUDA API'
    WHEN 5 THEN 'launch call'
    WHEN 6 THEN 'queued'
    ELSE 'unknown'
  END AS part,
  function.api_name,
  gap.start_ns AS gap_start_ns,
  gap.dur_ns AS gap_ns,
  launch.pid,
  launch.tid,
  launch.global_tid,
  gap.before_kind,
  gap.before_id,
  gap.before_name,
  gap.after_kind,
  gap.after_id,
  gap.after_name
FROM part
JOIN gap
  ON gap.gap_number = part.gap_number
LEFT JOIN launch
  ON launch.gap_number = part.gap_number
LEFT JOIN function
  ON function.name_id = part.name_id
