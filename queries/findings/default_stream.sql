/*---
name: default_stream
version: 2
title: The default stream keeps copies and kernels apart
summary: Time of copies and small kernels that the default stream keeps apart.
why: To see what streams that do not wait for the default stream could overlap.
kind: finding
tags: [cuda, gpu, memory]
reads: [cuda_sync, exposed_part, gpu, gpu_overlap, gpu_window, kernel, launch, memcpy, stream]
requires: [stream, launch, gpu_overlap]
finding:
  claim: "Default stream: work that could overlap runs in turn, because a part is on the default stream."
  ceiling: The part of the copy that ran alone, at most as long as the other operation had waited and as either took. Two kernels that wait for each other and fit on the GPU together count with the one of the streams with less time.
  remedy: >-
    Use streams with cudaStreamNonBlocking and no default stream, or compile with --default-stream per-thread. Order dependent work with events.
  in_pytorch: >-
    run copies in a torch.cuda.stream() of their own, and order with wait_stream().
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation
  confidence: low
  frees: kernels
  narrows: [few_blocks]
params:
  - {name: handover, type: duration, default: 10us, min: 0, doc: "Longest time between the two operations."}
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "copy or kernel", priority: 0, doc: "Direction of the copy, or function of the kernel."}
  - {name: stream_id, type: id, label: "its stream", doc: "CUDA stream ID of the copy or kernel, unique within its context."}
  - {name: kernel_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID in the raw table of the kernel before or after the copy, or of the kernel itself."}
  - {name: memcpy_id, type: id, label: "row of the copy", priority: 3, doc: "Row ID of the copy in the raw table; null for a kernel."}
checks:
  - dur_ns > 0
when_empty: "no copies and kernels wait for each other because of the default stream"
limits: >-
  The legacy default stream and streams without cudaStreamNonBlocking wait for each other. An event or a dependency can be
  the reason too: the report does not say. A copy that needs the result of the kernel can only overlap with other kernels.
  Kernels count only if few streams wait for events, and if both have fewer blocks together than the GPU has SMs.
  A copy whose call waits for it, such as cudaMemcpy, has no rows. The time is also in exposed_copies. Needs the kinds of
  streams, which are not in imported PyTorch traces.
see_also: [exposed_copies, stream_concurrency, cuda_memcpy_async]
---*/
WITH
used AS MATERIALIZED (
  SELECT DISTINCT pid, context_id, stream_id
  FROM gpu_overlap
  WHERE EXISTS (SELECT 1 FROM stream WHERE stream_kind GLOB 'Null*')
    AND EXISTS (SELECT 1 FROM stream WHERE stream_kind GLOB 'Default*')
),
blocking AS MATERIALIZED (
  SELECT DISTINCT used.pid, used.context_id, used.stream_id, stream.stream_kind GLOB 'Null*' AS is_default
  FROM used
  JOIN stream
    ON stream.pid = used.pid
    AND stream.context_id = used.context_id
    AND stream.stream_id = used.stream_id
  WHERE stream.stream_kind GLOB 'Null*'
    OR stream.stream_kind GLOB 'Default*'
),
mixed AS MATERIALIZED (
  SELECT pid, context_id
  FROM blocking
  GROUP BY pid, context_id
  HAVING min(is_default) < max(is_default)
),
op AS MATERIALIZED (
  SELECT
    launch.op_kind,
    launch.op_id,
    launch.start_ns,
    launch.end_ns,
    launch.call_end_ns,
    launch.pid,
    launch.context_id,
    launch.stream_id,
    blocking.is_default
  FROM launch
  JOIN blocking
    ON blocking.pid = launch.pid
    AND blocking.context_id = launch.context_id
    AND blocking.stream_id = launch.stream_id
  JOIN mixed
    ON mixed.pid = launch.pid
    AND mixed.context_id = launch.context_id
  WHERE EXISTS (SELECT 1 FROM mixed)
),
-- The end of the work before it on its own stream, and on the streams that the default stream waits for.
swept AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY pid, context_id, stream_id
      ORDER BY start_ns, end_ns, op_kind, op_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS own_end_ns,
    max(iif(is_default, end_ns, NULL)) OVER earlier AS default_end_ns,
    max(iif(is_default, NULL, end_ns)) OVER earlier AS other_end_ns
  FROM op
  WINDOW earlier AS (
    PARTITION BY pid, context_id
    ORDER BY start_ns, end_ns, op_kind, op_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
waiting AS MATERIALIZED (
  SELECT *, max(call_end_ns, coalesce(own_end_ns, call_end_ns)) AS ready_ns
  FROM (SELECT *, iif(is_default, other_end_ns, default_end_ns) AS before_end_ns FROM swept)
  WHERE start_ns BETWEEN before_end_ns AND before_end_ns + :handover
),
pair AS MATERIALIZED (
  SELECT
    iif(waiting.op_kind = 'memcpy', waiting.op_id, before.op_id) AS memcpy_id,
    iif(waiting.op_kind = 'memcpy', before.op_id, waiting.op_id) AS kernel_id,
    min(
      before.end_ns - max(before.start_ns, waiting.ready_ns),
      waiting.end_ns - waiting.start_ns
    ) AS freed_ns
  FROM waiting
  JOIN op AS before
    ON before.pid = waiting.pid
    AND before.context_id = waiting.context_id
    AND before.end_ns = waiting.before_end_ns
    AND before.is_default <> waiting.is_default
  WHERE waiting.ready_ns < waiting.before_end_ns
    AND (
      waiting.op_kind = 'memcpy' AND before.op_kind = 'kernel'
      OR waiting.op_kind = 'kernel' AND before.op_kind = 'memcpy'
    )
),
-- Kernels that leave most of the GPU to others.
size AS MATERIALIZED (
  SELECT min(sm_count) AS sm_count
  FROM gpu
),
narrow AS MATERIALIZED (
  SELECT kernel_id, coalesce(short_name, kernel_name, '(no name)') AS kernel_name, grid_x * grid_y * grid_z AS blocks
  FROM kernel
  WHERE grid_x * grid_y * grid_z < (SELECT sm_count FROM size)
    AND EXISTS (SELECT 1 FROM mixed)
),
-- Of the default stream and the others, those with less time can hide under the others.
side AS MATERIALIZED (
  SELECT
    pid,
    context_id,
    sum(iif(is_default, end_ns - start_ns, 0)) < sum(iif(is_default, 0, end_ns - start_ns)) AS default_hides
  FROM op
  GROUP BY pid, context_id
),
-- Where streams also wait for events, the order may be wanted.
ordered AS MATERIALIZED (
  SELECT pid, context_id, count(*) AS waits
  FROM cuda_sync
  WHERE sync_kind = 'stream waits for event'
  GROUP BY pid, context_id
),
narrow_freed AS MATERIALIZED (
  SELECT
    iif(waiting.is_default = side.default_hides, waiting.op_id, before.op_id) AS kernel_id,
    side.pid,
    side.context_id,
    max(
      min(
        before.end_ns - max(before.start_ns, waiting.ready_ns),
        waiting.end_ns - waiting.start_ns
      )
    ) AS freed_ns,
    count(*) OVER (PARTITION BY side.pid, side.context_id) AS kernels
  FROM waiting
  JOIN op AS before
    ON before.pid = waiting.pid
    AND before.context_id = waiting.context_id
    AND before.end_ns = waiting.before_end_ns
    AND before.is_default <> waiting.is_default
  JOIN side
    ON side.pid = waiting.pid
    AND side.context_id = waiting.context_id
  JOIN narrow AS own
    ON own.kernel_id = waiting.op_id
  JOIN narrow AS other
    ON other.kernel_id = before.op_id
  WHERE waiting.ready_ns < waiting.before_end_ns
    AND waiting.op_kind = 'kernel'
    AND before.op_kind = 'kernel'
    AND own.blocks + other.blocks <= (SELECT sm_count FROM size)
  GROUP BY iif(waiting.is_default = side.default_hides, waiting.op_id, before.op_id), side.pid, side.context_id
),
freed AS (
  SELECT
    part.gpu_id,
    max(part.start_ns + part.late_ns, copy.end_ns - pair.freed_ns) AS start_ns,
    part.end_ns,
    memcpy.direction AS subject,
    copy.stream_id,
    pair.kernel_id,
    pair.memcpy_id
  FROM pair
  JOIN gpu_overlap AS copy
    ON copy.op_kind = 'memcpy'
    AND copy.op_id = pair.memcpy_id
  JOIN exposed_part AS part
    ON part.op_kind = 'memcpy'
    AND part.op_id = pair.memcpy_id
  CROSS JOIN memcpy
  WHERE memcpy.memcpy_id = pair.memcpy_id
    AND memcpy.copy_kind IN (1, 2)
    AND copy.exposed_ns = copy.dur_ns
  UNION ALL
  SELECT
    op.gpu_id,
    op.start_ns,
    op.start_ns + freed.freed_ns,
    narrow.kernel_name,
    op.stream_id,
    freed.kernel_id,
    NULL
  FROM narrow_freed AS freed
  LEFT JOIN ordered
    ON ordered.pid = freed.pid
    AND ordered.context_id = freed.context_id
  JOIN narrow
    ON narrow.kernel_id = freed.kernel_id
  JOIN gpu_overlap AS op
    ON op.op_kind = 'kernel'
    AND op.op_id = freed.kernel_id
  WHERE op.concurrent_ns = 0
    AND 10 * coalesce(ordered.waits, 0) <= freed.kernels
),
counted AS (
  SELECT *, end_ns - start_ns AS dur_ns, sum(end_ns - start_ns) OVER (PARTITION BY gpu_id) AS total_ns
  FROM freed
  WHERE end_ns - start_ns >= max(:least, 1)
)
SELECT
  counted.gpu_id,
  counted.start_ns,
  counted.dur_ns,
  counted.subject,
  counted.stream_id,
  counted.kernel_id,
  counted.memcpy_id
FROM counted
JOIN gpu_window
  ON gpu_window.gpu_id = counted.gpu_id
WHERE 100.0 * counted.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY counted.gpu_id, counted.start_ns, counted.memcpy_id, counted.kernel_id
