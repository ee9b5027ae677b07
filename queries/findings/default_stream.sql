/*---
name: default_stream
version: 1
title: The default stream keeps copies and kernels apart
summary: Time in which a copy ran alone because of the order on the default stream.
why: To see what streams that do not wait for the default stream could overlap.
kind: finding
tags: [cuda, gpu, memory]
reads: [exposed_part, gpu_overlap, gpu_window, launch, memcpy, stream]
requires: [stream, launch, gpu_overlap]
finding:
  claim: "Default stream: copies and kernels that could overlap run one after the other, because one is on the default stream."
  ceiling: The part of the copy that ran alone, at most as long as the other operation had waited and as either took. Two kernels that wait for each other do not count.
  remedy: >-
    Use streams with cudaStreamNonBlocking and no default stream, or compile with --default-stream per-thread. Order dependent work with events.
  in_pytorch: >-
    run copies in a torch.cuda.stream() of their own, and order with wait_stream().
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation
  confidence: low
  frees: kernels
params:
  - {name: handover, type: duration, default: 10us, min: 0, doc: "Longest time between the two operations."}
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "direction", priority: 0, doc: "Direction of the copy."}
  - {name: stream_id, type: id, label: "stream of the copy", doc: "CUDA stream ID, unique within its context."}
  - {name: kernel_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the kernel before or after the copy in the raw table."}
  - {name: memcpy_id, type: id, label: "row of the copy", priority: 3, doc: "Row ID of the copy in the raw table."}
checks:
  - dur_ns > 0
when_empty: "no copy and kernel wait for each other because of the default stream"
limits: >-
  The legacy default stream and streams without cudaStreamNonBlocking wait for each other. An event or a dependency can be
  the reason too: the report does not say. A copy that needs the result of the kernel can only overlap with other kernels.
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
