/*---
name: memory_at_peak
version: 1
title: Memory at the peak
summary: Whose memory was in use at the peak of each device.
why: To know what to shrink when memory runs out.
kind: sum
tags: [cuda, gpu, memory, nvtx]
reads: [all_nvtx_range, all_python_frame, memory_event]
requires: [memory_event]
params:
  - {name: by, type: enum, values: [operator, range, module, function], default: operator, doc: "Whose memory: that of the innermost range (an operator, in a PyTorch trace), of the innermost annotation, of the innermost PyTorch module, or of the innermost Python function outside of PyTorch's files, each around the allocation."}
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; null for the host."}
  - {name: allocator, type: text, priority: 0, doc: "Who hands out the memory: CUDA, or PyTorch's allocators."}
  - {name: memory_kind, type: text, label: "kind", priority: 2, doc: "Kind of memory, such as Device; Host for PyTorch's memory in the host."}
  - {name: owner, type: text, label: "allocated in", priority: 0, doc: "Range, module or function; (before the capture) for what was in use before the first event, (none) for blocks that no range, module or function allocated."}
  - {name: blocks, type: int, unit: count, priority: 1, doc: "Blocks that were in use at the peak; null for (before the capture)."}
  - {name: used_bytes, type: bytes, unit: bytes, label: "memory", priority: 1, doc: "Bytes of these blocks."}
  - {name: share_pct, type: percent, unit: percent, label: "share of the peak", priority: 1, doc: "used_bytes as a share of the memory in use at the peak."}
  - {name: peak_ns, type: timestamp, unit: ns, label: "peak at", priority: 3, doc: "Time of the peak, on the report's clock."}
checks:
  - blocks IS NULL OR blocks >= 1
when_empty: "no allocation was recorded: nsys profile --cuda-memory-usage=true, or profile_memory=True in PyTorch"
limits: >-
  The rows of a device add up to its peak. Blocks that were allocated before the capture and released before the peak
  make (before the capture) smaller. Modules and functions need Python calls in the trace (with_stack=True), on the
  thread that allocates. The peak is the first time with the most memory in use.
see_also: [memory_peaks, memory_over_time, memory_by_range]
---*/
WITH
event AS MATERIALIZED (
  SELECT
    *,
    dense_rank() OVER (ORDER BY gpu_id, allocator, memory_kind) AS pool,
    row_number() OVER (ORDER BY at_ns, allocator, event_id) AS place,
    lead(at_ns) OVER block AS next_ns,
    lead(event_id) OVER block AS next_id
  FROM memory_event
  WINDOW block AS (
    PARTITION BY gpu_id, allocator, memory_kind, global_pid, address
    ORDER BY at_ns, event_id
  )
),
peak AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      pool,
      gpu_id,
      allocator,
      memory_kind,
      at_ns,
      event_id,
      used_bytes,
      row_number() OVER (PARTITION BY pool ORDER BY used_bytes DESC, at_ns, event_id) AS nth
    FROM event
  )
  WHERE nth = 1
),
-- Blocks that were allocated at or before the peak, and not released by then.
alive AS MATERIALIZED (
  SELECT event.place, event.pool, event.size_bytes, event.call_ns, event.global_tid
  FROM peak
  JOIN event
    ON event.pool = peak.pool
  WHERE NOT event.is_release
    AND (event.at_ns < peak.at_ns OR event.at_ns = peak.at_ns AND event.event_id <= peak.event_id)
    AND (
      event.next_ns IS NULL
      OR event.next_ns > peak.at_ns
      OR event.next_ns = peak.at_ns AND event.next_id > peak.event_id
    )
),
owner AS MATERIALIZED (
  SELECT range_id AS owner_id, start_ns, end_ns, global_tid, range_text AS owner
  FROM all_nvtx_range
  WHERE :by = 'operator'
    OR :by = 'range' AND coalesce(domain_name, '') <> 'cpu_op'
  UNION ALL
  SELECT
    frame_id,
    start_ns,
    end_ns,
    global_tid,
    coalesce(module_name, file_name || '(' || line || '): ' || function_name)
  FROM all_python_frame
  WHERE :by = 'module' AND module_name IS NOT NULL
    OR :by = 'function' AND NOT is_torch
),
around AS (
  SELECT
    span.span_id AS place,
    owner.owner,
    row_number() OVER (
      PARTITION BY span.span_id
      ORDER BY owner.start_ns DESC, owner.end_ns, owner.owner_id DESC
    ) AS nth
  FROM split_spans(
    (SELECT time_spans(global_tid, place, call_ns, call_ns + 1) FROM alive WHERE global_tid IS NOT NULL),
    (SELECT time_spans(global_tid, owner_id, start_ns, end_ns) FROM owner WHERE end_ns > start_ns)
  ) AS span
  JOIN owner
    ON owner.owner_id = span.by_id
),
owned AS MATERIALIZED (
  SELECT
    alive.pool,
    coalesce(around.owner, '(none)') AS owner,
    count(*) AS blocks,
    coalesce(sum(alive.size_bytes), 0) AS used_bytes
  FROM alive
  LEFT JOIN around
    ON around.place = alive.place
    AND around.nth = 1
  GROUP BY alive.pool, coalesce(around.owner, '(none)')
),
listed AS (
  SELECT pool, owner, blocks, used_bytes
  FROM owned
  UNION ALL
  SELECT peak.pool, '(before the capture)', NULL, peak.used_bytes - coalesce(sum(owned.used_bytes), 0)
  FROM peak
  LEFT JOIN owned
    ON owned.pool = peak.pool
  GROUP BY peak.pool, peak.used_bytes
  HAVING peak.used_bytes <> coalesce(sum(owned.used_bytes), 0)
)
SELECT
  peak.gpu_id,
  peak.allocator,
  peak.memory_kind,
  listed.owner,
  listed.blocks,
  listed.used_bytes,
  100.0 * listed.used_bytes / nullif(peak.used_bytes, 0) AS share_pct,
  peak.at_ns AS peak_ns
FROM listed
JOIN peak
  ON peak.pool = listed.pool
ORDER BY peak.gpu_id IS NULL, peak.pool, listed.used_bytes DESC, listed.owner
LIMIT :limit
