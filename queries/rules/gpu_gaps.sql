/*---
name: gpu_gaps
version: 2
title: GPU gaps
summary: Times in which a process gave its GPU no work, longest first.
why: To find where the GPU waited, and between which operations.
kind: rule
tags: [cuda, kernel, memory, rule]
reads: [gpu_op, graphics_op, all_gpu_window, all_graphics_op, all_kernel, all_memcpy, all_profiler_overhead, process_device]
requires: [gpu_op | graphics_op, gpu_window | graphics_op]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: gap_ms, type: real, default: 500, min: 0, doc: "Report gaps longer than this many milliseconds. A gap of exactly this length is not reported."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by dur_ns; 1 is the longest."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the gap: end_ns - start_ns."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, when the last operation before it ended, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the gap, when the first operation after it started."}
  - {name: idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 1, doc: "Part of the gap in which no CUDA work ran on the GPU: no other process, and no CUDA graph traced as a whole; null if api is not cuda."}
  - {name: api, type: text, label: "API", priority: 0, doc: "API of the work: cuda, vulkan, opengl or dx12."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, label: "device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it. For another api, the GPU as the raw table numbers them."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "Context of the operation before; if that was the profiler, the context of the device's last operation."}
  - {name: before_kind, type: text, priority: 3, doc: "Kind of work that ended at the start of the gap: kernel, memcpy, memset, overhead for the profiler's own work, or the API for graphics work."}
  - {name: before_name, type: text, label: "before", priority: 1, doc: "Name of that work; for a kernel, the demangled name."}
  - {name: before_stream_id, type: id, label: "before: stream", priority: 3, doc: "CUDA stream of that work; null for overhead and graphics work."}
  - {name: before_id, type: id, label: "before: row ID", priority: 3, doc: "Row ID in the raw table of this before_kind."}
  - {name: after_kind, type: text, priority: 3, doc: "Kind of work that started at the end of the gap, as in before_kind."}
  - {name: after_name, type: text, label: "after", priority: 1, doc: "Name of that work; for a kernel, the demangled name."}
  - {name: after_stream_id, type: id, label: "after: stream", priority: 3, doc: "CUDA stream of that work; null for overhead and graphics work."}
  - {name: after_id, type: id, label: "after: row ID", priority: 3, doc: "Row ID in the raw table of this after_kind."}
checks:
  - dur_ns > 0 AND dur_ns = end_ns - start_ns
  - idle_ns IS NULL OR idle_ns BETWEEN 0 AND dur_ns
  - (idle_ns IS NULL) = (api <> 'cuda')
when_empty: "no gap is longer than gap_ms, by default 500 ms; a smaller -p gap_ms=N reports shorter gaps"
limits: >-
  The query looks at each API on each device of each process by itself, between its first operation and its last, as
  NVIDIA's rule does. Time before and after them, or between processes, is not a gap, and Vulkan work does not end a gap
  of CUDA work. dur_ns is about kernels, copies and fills, or about workloads of a graphics API; the profiler's data
  flushes count as CUDA work. Graphics work on an unknown GPU does not count. Only idle_ns considers what NVIDIA's rule
  does not see: CUDA graphs traced as a whole, and other processes on the same GPU. With --time or --window, operations
  that cross the bounds count whole, and the time between several windows is a gap. NVIDIA's rule skips operations that
  start at or before 0 ns and those without a process, and merges processes of one pid on different hosts. With `rows` it
  cuts before it sorts, so it can lose the longest gaps.
see_also: [gpu_time_util, gpu_time, gpu_idle_causes]
nsys:
  title: GPU Gaps
  aliases: [gpu-starv]
  args:
    - {name: rows, param: limit}
    - {name: gap, param: gap_ms}
  lacks:
    - {says: "data. Does the application launch GPU operations?"}
  advice: >-
    In these times a process gave its GPU no work for longer than {gap_ms} ms. See what its threads did meanwhile:
    `nsq run REPORT --query gpu_idle_causes` names the cause of each gap.
  all_clear: >-
    There were no problems detected with GPU utilization. No GPU was idle for longer than {gap_ms} ms.
  columns:
    - {name: "Row#", sql: rank}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: PID, sql: pid}
    - {name: Device ID, sql: device_id}
    - {name: Context ID, sql: context_id}
---*/
WITH
op AS (
  SELECT 'cuda' AS api, global_pid, device_id, context_id, stream_id, op_kind, op_id, start_ns, end_ns
  FROM gpu_op
  UNION ALL
  SELECT op_kind AS api, global_pid, device_id, context_id, NULL AS stream_id, op_kind, op_id, start_ns, end_ns
  FROM graphics_op
  WHERE device_id IS NOT NULL
),
extent AS (
  SELECT global_pid, device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM gpu_op
  GROUP BY global_pid, device_id
),
-- If operations end together, the context is the one that NVIDIA's rule takes: that of a kernel before that of a copy,
-- then that of the first row.
last_op AS (
  SELECT *
  FROM (
    SELECT
      extent.global_pid,
      extent.device_id,
      extent.start_ns,
      extent.end_ns,
      op.context_id,
      row_number() OVER (PARTITION BY op.global_pid, op.device_id ORDER BY op.op_kind, op.op_id) AS place
    FROM gpu_op AS op
    JOIN extent
      ON extent.end_ns = op.end_ns
      AND extent.device_id = op.device_id
      AND extent.global_pid IS NOT DISTINCT FROM op.global_pid
  )
  WHERE place = 1
),
-- The profiler blocked the process, and so each of its devices.
overhead AS (
  SELECT
    last_op.global_pid,
    last_op.device_id,
    last_op.context_id,
    overhead.overhead_id,
    overhead.start_ns,
    overhead.end_ns
  FROM all_profiler_overhead AS overhead
  JOIN last_op
    ON last_op.global_pid = overhead.global_pid
    AND last_op.start_ns < overhead.start_ns
    AND last_op.end_ns > overhead.end_ns
  WHERE
    overhead.overhead_name IN (
      'CUDA profiling data flush overhead',
      'CUDA profiling stop overhead',
      'CUDA profiling overhead'
    )
),
work AS (
  SELECT api, global_pid, device_id, context_id, stream_id, op_kind, op_id, start_ns, end_ns
  FROM op
  UNION ALL
  SELECT 'cuda' AS api, global_pid, device_id, context_id, NULL, 'overhead' AS op_kind, overhead_id, start_ns, end_ns
  FROM overhead
),
-- For each operation, the time at which all operations that started earlier were done.
follower AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY api, global_pid, device_id
      ORDER BY start_ns, end_ns, op_kind, op_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS done_ns
  FROM work
),
gap AS (
  SELECT
    row_number() OVER (ORDER BY start_ns - done_ns DESC, done_ns, global_pid, device_id, api) AS rank,
    done_ns AS start_ns,
    start_ns AS end_ns,
    api,
    global_pid,
    device_id,
    op_kind AS after_kind,
    op_id AS after_id,
    stream_id AS after_stream_id
  FROM follower
  WHERE start_ns - done_ns > :gap_ms * 1000000 AND start_ns > done_ns
  ORDER BY rank
  LIMIT :limit
),
-- If several operations end together, take the one that started last.
leader AS (
  SELECT
    gap.rank,
    work.context_id,
    work.op_kind AS before_kind,
    work.op_id AS before_id,
    work.stream_id AS before_stream_id,
    row_number() OVER (PARTITION BY gap.rank ORDER BY work.start_ns DESC, work.op_kind, work.op_id) AS place
  FROM work
  JOIN gap
    ON gap.start_ns = work.end_ns
    AND gap.api = work.api
    AND gap.device_id = work.device_id
    AND gap.global_pid IS NOT DISTINCT FROM work.global_pid
)
SELECT
  gap.rank,
  gap.end_ns - gap.start_ns AS dur_ns,
  gap.start_ns,
  gap.end_ns,
  (
    SELECT idle_ns
    FROM all_gpu_window AS gpu
    WHERE gpu.start_ns = gap.start_ns
      AND gpu.end_ns = gap.end_ns
      AND gpu.gpu_id = process_device.gpu_id
  ) AS idle_ns,
  gap.api,
  gap.global_pid >> 24 & 16777215 AS pid,
  gap.device_id,
  leader.context_id,
  leader.before_kind,
  CASE leader.before_kind
    WHEN 'kernel' THEN (SELECT kernel_name FROM all_kernel WHERE kernel_id = leader.before_id)
    WHEN 'memcpy' THEN (SELECT '[CUDA memcpy ' || direction || ']' FROM all_memcpy WHERE memcpy_id = leader.before_id)
    WHEN 'memset' THEN '[CUDA memset]'
    WHEN 'overhead' THEN (SELECT overhead_name FROM all_profiler_overhead WHERE overhead_id = leader.before_id)
    ELSE (SELECT op_name FROM all_graphics_op WHERE op_kind = leader.before_kind AND op_id = leader.before_id)
  END AS before_name,
  leader.before_stream_id,
  leader.before_id,
  gap.after_kind,
  CASE gap.after_kind
    WHEN 'kernel' THEN (SELECT kernel_name FROM all_kernel WHERE kernel_id = gap.after_id)
    WHEN 'memcpy' THEN (SELECT '[CUDA memcpy ' || direction || ']' FROM all_memcpy WHERE memcpy_id = gap.after_id)
    WHEN 'memset' THEN '[CUDA memset]'
    WHEN 'overhead' THEN (SELECT overhead_name FROM all_profiler_overhead WHERE overhead_id = gap.after_id)
    ELSE (SELECT op_name FROM all_graphics_op WHERE op_kind = gap.after_kind AND op_id = gap.after_id)
  END AS after_name,
  gap.after_stream_id,
  gap.after_id
FROM gap
JOIN leader ON leader.rank = gap.rank AND leader.place = 1
LEFT JOIN process_device
  ON gap.api = 'cuda'
  AND process_device.device_id = gap.device_id
  AND process_device.global_pid IS NOT DISTINCT FROM gap.global_pid
ORDER BY gap.rank
