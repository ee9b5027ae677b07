/*---
name: gpu_time_util
version: 2
title: GPU time utilization
summary: Times in which a process used its GPU little, least used first.
why: To find stretches in which the GPU was mostly without work, even if no single gap is long.
kind: rule
tags: [cuda, kernel, memory, rule]
reads: [gpu_op, graphics_op, all_gpu_window, all_profiler_overhead, process_device]
requires: [gpu_op | graphics_op, gpu_window | graphics_op]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: threshold, type: real, default: 50, min: 0, doc: "Report chunks used for less than this many percent of their time."}
  - {name: chunks, type: int, default: 30, min: 1, max: 1000, doc: "Number of equal chunks into which the time of each device is cut."}
  - {name: measure, type: enum, values: [total, busy, gpu], default: total, doc: "Measure that threshold applies to: total is total_pct, busy is busy_pct, gpu is gpu_busy_pct, which only CUDA work has."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by the chosen measure, least used first, in tenths of a percent; if equal, the shorter stretch comes first."}
  - {name: total_pct, type: percent, unit: percent, label: "total % of duration", priority: 1, doc: "total_ns as a share of dur_ns; more than 100 if operations overlap."}
  - {name: busy_pct, type: percent, unit: percent, label: "busy % of duration", priority: 1, doc: "busy_ns as a share of dur_ns."}
  - {name: gpu_busy_pct, type: percent, unit: percent, label: "GPU busy % of duration", priority: 1, doc: "gpu_busy_ns as a share of dur_ns; null if api is not cuda."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Length of the stretch: a chunk, or several in a row."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the stretch, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the stretch."}
  - {name: chunks, type: int, unit: count, priority: 3, doc: "Number of chunks in a row, all below the threshold."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the parts of operations inside the stretch; overlapping operations count in full."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in the stretch in which at least one of these operations ran."}
  - {name: gpu_busy_ns, type: duration, unit: ns, label: "GPU busy", doc: "Time in the stretch in which any CUDA work ran on the GPU, including other processes and CUDA graphs traced as a whole; null if api is not cuda."}
  - {name: api, type: text, label: "API", priority: 0, doc: "API of the work: cuda, vulkan, opengl or dx12."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, label: "device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it. For another api, the GPU as the raw table numbers them."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "Context of the last operation of this api on the device; other contexts may have worked too."}
checks:
  - dur_ns = end_ns - start_ns AND dur_ns > 0 AND chunks >= 1
  - busy_ns BETWEEN 0 AND dur_ns AND (gpu_busy_ns IS NULL OR gpu_busy_ns BETWEEN 0 AND dur_ns)
  - (gpu_busy_ns IS NULL) = (api <> 'cuda')
  - busy_ns <= total_ns
when_empty: "every chunk of time reaches the threshold, by default 50 % in use; a higher -p threshold=N reports more"
limits: >-
  The query looks at each API on each device of each process by itself, from its first operation to its last, as
  NVIDIA's rule does: CUDA, Vulkan, OpenGL and Direct3D 12 work of one GPU is not added up. Graphics work on an unknown
  GPU does not count; NVIDIA's rule shows 0 % for it. Only time counts: one small copy uses the GPU as much as a kernel
  on all its cores. total_pct adds up operations that overlap, such as a debug marker and its workloads, so two streams
  that both fill half of a chunk make it look fully used; give `measure=busy` to count overlaps once. The profiler's data
  flushes count as CUDA work, except in gpu_busy_ns. Only gpu_busy_ns includes other processes and CUDA graphs traced as
  a whole. With --time or --window, operations that cross the bounds count whole, and the time between several windows
  counts as unused. A device whose operations all took 0 ns has no row. NVIDIA's rule skips operations that start at or
  before 0 ns, shows 0 % for those without a process, and merges processes of one pid on different hosts. With `rows` it
  cuts before it sorts, so it can lose the least used stretches.
see_also: [gpu_gaps, gpu_time, stream_concurrency]
nsys:
  title: GPU Time Utilization
  aliases: [gpu-low-util]
  args:
    - {name: rows, param: limit}
    - {name: threshold, param: threshold}
    - {name: chunks, param: chunks}
  lacks:
    - {says: "data. Does the application launch GPU operations?"}
  advice: >-
    In these times a process used its GPU for less than {threshold} % of the time. Overlapping work adds up, and the
    chunks are as long as the profile makes them: profile only the part that matters.
  all_clear: >-
    There were no problems detected with GPU utilization. Every part of the time uses the GPU for at least
    {threshold} %.
  columns:
    - {name: "Row#", sql: rank}
    - {name: In-Use, unit: percent, sql: total_pct}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: PID, sql: pid}
    - {name: Device ID, sql: device_id}
    - {name: Context ID, sql: context_id}
---*/
WITH RECURSIVE
op AS (
  SELECT 'cuda' AS api, global_pid, device_id, context_id, op_kind, op_id, start_ns, end_ns
  FROM gpu_op
  UNION ALL
  SELECT op_kind AS api, global_pid, device_id, context_id, op_kind, op_id, start_ns, end_ns
  FROM graphics_op
  WHERE device_id IS NOT NULL
),
extent AS (
  SELECT api, global_pid, device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM op
  GROUP BY api, global_pid, device_id
),
-- If operations end together, the context is the one that NVIDIA's rule takes: that of a kernel before that of a copy,
-- then that of the first row.
last_op AS (
  SELECT *
  FROM (
    SELECT
      extent.api,
      extent.global_pid,
      extent.device_id,
      extent.start_ns,
      extent.end_ns,
      op.context_id,
      row_number() OVER (PARTITION BY op.api, op.global_pid, op.device_id ORDER BY op.op_kind, op.op_id) AS place
    FROM op
    JOIN extent
      ON extent.end_ns = op.end_ns
      AND extent.api = op.api
      AND extent.device_id = op.device_id
      AND extent.global_pid IS NOT DISTINCT FROM op.global_pid
  )
  WHERE place = 1
),
-- The time of a process on a device. Chunks are rounded up to whole ns, so the last one can be shorter. A span of more
-- than 64 bits is a real number, and its chunks would be, too.
span AS (
  SELECT
    row_number() OVER (ORDER BY last_op.global_pid, last_op.device_id, last_op.api) AS span_id,
    last_op.api,
    last_op.global_pid,
    last_op.device_id,
    last_op.context_id,
    process_device.gpu_id,
    last_op.start_ns,
    last_op.end_ns,
    CAST((last_op.end_ns - last_op.start_ns + :chunks - 1) / :chunks AS INTEGER) AS chunk_ns
  FROM last_op
  LEFT JOIN process_device
    ON last_op.api = 'cuda'
    AND process_device.device_id = last_op.device_id
    AND process_device.global_pid IS NOT DISTINCT FROM last_op.global_pid
  WHERE last_op.end_ns > last_op.start_ns
),
work AS (
  SELECT span.span_id, op.start_ns, op.end_ns
  FROM op
  JOIN span
    ON span.api = op.api
    AND span.device_id = op.device_id
    AND span.global_pid IS NOT DISTINCT FROM op.global_pid
  UNION ALL
  -- The profiler blocked the process, and so each of its devices.
  SELECT span.span_id, overhead.start_ns, overhead.end_ns
  FROM all_profiler_overhead AS overhead
  JOIN span
    ON span.api = 'cuda'
    AND span.global_pid = overhead.global_pid
    AND span.start_ns < overhead.start_ns
    AND span.end_ns > overhead.end_ns
  WHERE
    overhead.overhead_name IN (
      'CUDA profiling data flush overhead',
      'CUDA profiling stop overhead',
      'CUDA profiling overhead'
    )
),
-- The chunk of each start and end, and how far inside the chunk it is. An interval within one chunk has no edges.
edge AS (
  SELECT
    placed.span_id,
    side.sign,
    iif(side.sign = -1, placed.end_offset_ns, placed.start_offset_ns) / placed.chunk_ns AS number,
    CASE side.sign
      WHEN 1 THEN -(placed.start_offset_ns % placed.chunk_ns)
      WHEN -1 THEN placed.end_offset_ns % placed.chunk_ns
      ELSE placed.end_offset_ns - placed.start_offset_ns
    END AS part_ns
  FROM (
    SELECT
      work.span_id,
      span.chunk_ns,
      work.start_ns - span.start_ns AS start_offset_ns,
      work.end_ns - span.start_ns AS end_offset_ns
    FROM work
    JOIN span ON span.span_id = work.span_id
  ) AS placed
  JOIN (SELECT 1 AS sign UNION ALL SELECT -1 UNION ALL SELECT 0) AS side
    ON (side.sign = 0) = (placed.start_offset_ns / placed.chunk_ns = placed.end_offset_ns / placed.chunk_ns)
),
edges AS (
  SELECT span_id, number, sum(sign) AS total_edges, sum(part_ns) AS total_ns
  FROM edge
  GROUP BY span_id, number
),
number AS (
  SELECT 0 AS number
  UNION ALL
  SELECT number + 1
  FROM number
  WHERE number + 1 < :chunks
),
chunk AS (
  SELECT
    span.span_id,
    number.number,
    span.gpu_id,
    CAST(span.start_ns + number.number * span.chunk_ns AS INTEGER) AS start_ns,
    CAST(min(span.start_ns + (number.number + 1) * span.chunk_ns, span.end_ns) AS INTEGER) AS end_ns
  FROM span
  JOIN number ON number.number * span.chunk_ns < span.end_ns - span.start_ns
),
-- The time of each chunk in which any work runs.
busy AS MATERIALIZED (
  SELECT key AS span_id, span_id AS number, sum(end_ns - start_ns) AS busy_ns
  FROM split_spans(
    (SELECT time_spans(span_id, number, start_ns, end_ns) FROM chunk),
    (SELECT time_spans_apart(span_id, 0, start_ns, end_ns) FROM work)
  )
  WHERE by_id IS NOT NULL
  GROUP BY key, span_id
),
-- An interval that is open at the end of a chunk counts the whole chunk, less the part before its start. An interval
-- that ends in the chunk counts up to its end.
measured AS (
  SELECT
    chunk.span_id,
    chunk.number,
    chunk.start_ns,
    chunk.end_ns,
    (chunk.end_ns - chunk.start_ns) * coalesce(sum(edges.total_edges) OVER so_far, 0)
      + coalesce(edges.total_ns, 0) AS total_ns,
    coalesce(busy.busy_ns, 0) AS busy_ns,
    (
      SELECT busy_ns
      FROM all_gpu_window AS gpu
      WHERE gpu.start_ns = chunk.start_ns
        AND gpu.end_ns = chunk.end_ns
        AND gpu.gpu_id = chunk.gpu_id
    ) AS gpu_busy_ns
  FROM chunk
  LEFT JOIN edges
    ON edges.span_id = chunk.span_id
    AND edges.number = chunk.number
  LEFT JOIN busy
    ON busy.span_id = chunk.span_id
    AND busy.number = chunk.number
  WINDOW so_far AS (PARTITION BY chunk.span_id ORDER BY chunk.number ROWS UNBOUNDED PRECEDING)
),
low AS (
  SELECT *, number - row_number() OVER (PARTITION BY span_id ORDER BY number) AS run
  FROM measured
  WHERE
    100 * CASE :measure WHEN 'total' THEN total_ns WHEN 'busy' THEN busy_ns ELSE gpu_busy_ns END
      < :threshold * (end_ns - start_ns)
),
stretch AS (
  SELECT
    span_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    count(*) AS chunks,
    sum(total_ns) AS total_ns,
    sum(busy_ns) AS busy_ns,
    sum(gpu_busy_ns) AS gpu_busy_ns,
    100.0 * sum(CASE :measure WHEN 'total' THEN total_ns WHEN 'busy' THEN busy_ns ELSE gpu_busy_ns END)
      / (max(end_ns) - min(start_ns)) AS measure_pct
  FROM low
  GROUP BY span_id, run
)
SELECT
  row_number() OVER (
    ORDER BY
      round(stretch.measure_pct, 1),
      stretch.end_ns - stretch.start_ns,
      stretch.start_ns,
      stretch.span_id
  ) AS rank,
  100.0 * stretch.total_ns / (stretch.end_ns - stretch.start_ns) AS total_pct,
  100.0 * stretch.busy_ns / (stretch.end_ns - stretch.start_ns) AS busy_pct,
  100.0 * stretch.gpu_busy_ns / (stretch.end_ns - stretch.start_ns) AS gpu_busy_pct,
  stretch.end_ns - stretch.start_ns AS dur_ns,
  stretch.start_ns,
  stretch.end_ns,
  stretch.chunks,
  stretch.total_ns,
  stretch.busy_ns,
  stretch.gpu_busy_ns,
  span.api,
  span.global_pid >> 24 & 16777215 AS pid,
  span.device_id,
  span.context_id
FROM stretch
JOIN span ON span.span_id = stretch.span_id
ORDER BY rank
LIMIT :limit
