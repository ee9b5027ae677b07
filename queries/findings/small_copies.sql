/*---
name: small_copies
version: 2
title: Runs of many small copies
summary: Time of small copies in a row, without what one copy of all bytes takes.
why: To see what one large copy would save. A small copy costs its latency, whatever the rate of the link.
kind: finding
tags: [cuda, gpu, memory]
reads: [gpu_busy, gpu_overlap, memcpy]
requires: [gpu_overlap]
finding:
  claim: "Small copies: many run in a row, and each costs its latency, not its bytes."
  ceiling: From the start of each of these copies to the start of the next, without the last copy of a run and without the time that all its bytes take at 10 GB/s, within a GPU at 1 TB/s.
  remedy: >-
    Copy once: gather the data in one buffer, or use cudaMemcpyBatchAsync (CUDA 12.8 or newer). Pinned memory alone gains
    little: the latency of each copy stays.
  in_pytorch: >-
    torch.cat or torch.stack first, then one .to() or .cpu(); for scalars, one .tolist() in place of many .item().
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#data-transfer-between-host-and-device
  confidence: medium
  edit: "idle=@\nwithout=memcpy@"
  narrows: [exposed_copies, exposed_pageable_copies, host_sync, launch_bound, pageable_copy_call]
  frees: idle
params:
  - {name: copies, type: int, default: 20, min: 2, doc: "Smallest number of copies in a run."}
  - {name: largest, type: bytes, default: 16384, min: 1, doc: "Largest small copy between host and GPU."}
  - {name: largest_within, type: bytes, default: 4MiB, min: 1, doc: "Largest small copy within a GPU."}
  - {name: gap, type: duration, default: 60us, min: 0, doc: "A run ends at a longer time between two copies."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of a copy, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time until the next copy of the run starts."}
  - {name: subject, type: text, label: "run", priority: 0, doc: "Mean number of copies in a run, mean size and direction: 400 in a row, 4.1 kB each, Host-to-Device."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the copy."}
  - {name: run_copies, type: int, unit: count, label: "copies in the run", doc: "Copies of the run."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the copy in the raw table."}
checks:
  - dur_ns > 0
  - run_copies >= 2
when_empty: "no run of small copies in one direction, without kernels between them"
limits: >-
  Copies whose data depends on an earlier copy of the run cannot be batched. A run ends where a kernel runs, a larger
  copy comes, or the direction changes. Copies between GPUs do not count.
see_also: [exposed_copies, exposed_pageable_copies, memory_op_sizes, memcpy_bandwidth]
---*/
WITH
copy AS MATERIALIZED (
  SELECT
    op.gpu_id,
    op.pid,
    op.op_id,
    op.start_ns,
    op.end_ns,
    memcpy.direction,
    memcpy.size_bytes,
    memcpy.size_bytes <= iif(memcpy.copy_kind = 8, :largest_within, :largest) AS is_small,
    -- Time that the link or the memory needs for it.
    iif(memcpy.copy_kind = 8, 0.001, 0.1) * memcpy.size_bytes AS transfer_ns
  FROM memcpy
  JOIN gpu_overlap AS op
    ON op.op_kind = 'memcpy'
    AND op.op_id = memcpy.memcpy_id
  WHERE memcpy.copy_kind IN (1, 2, 8)
),
kernel_time AS MATERIALIZED (
  SELECT time_set(gpu_id, start_ns, end_ns) AS times
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity IN ('compute', 'communication')
    AND EXISTS (SELECT 1 FROM copy)
),
followed AS (
  SELECT
    *,
    lead(start_ns) OVER later AS next_ns,
    -- The times of kernels are not read if no small copy follows another.
    iif(
      is_small
        AND lag(is_small) OVER later
        AND lag(direction) OVER later = direction
        AND start_ns - lag(end_ns) OVER later <= :gap,
      coalesce(overlap_ns((SELECT times FROM kernel_time), gpu_id, lag(start_ns) OVER later, start_ns) = 0, 0),
      0
    ) AS continues
  FROM copy
  WINDOW later AS (PARTITION BY gpu_id, pid ORDER BY start_ns, op_id)
),
numbered AS (
  SELECT
    *,
    sum(NOT continues) OVER (PARTITION BY gpu_id, pid ORDER BY start_ns, op_id) AS run
  FROM followed
),
counted AS (
  SELECT
    *,
    count(*) OVER of_run AS run_copies,
    sum(transfer_ns) OVER of_run AS run_ns,
    min(start_ns) OVER of_run AS run_start_ns,
    max(start_ns) OVER of_run AS last_ns
  FROM numbered
  WINDOW of_run AS (PARTITION BY gpu_id, pid, run)
),
-- Where that takes half of a run, the rate binds.
small AS MATERIALIZED (
  SELECT *
  FROM counted
  WHERE run_copies >= :copies
    AND 2 * run_ns < last_ns - run_start_ns
),
about AS MATERIALIZED (
  SELECT
    direction,
    printf(
      '%d in a row, %s each, %s',
      round(1.0 * count(*) / sum(start_ns = run_start_ns)),
      iif(avg(size_bytes) < 1000, printf('%.0f B', avg(size_bytes)), printf('%.1f kB', avg(size_bytes) / 1000.0)),
      direction
    ) AS subject
  FROM small
  GROUP BY direction
)
SELECT
  small.gpu_id,
  small.start_ns,
  small.next_ns - small.start_ns AS dur_ns,
  about.subject,
  small.size_bytes,
  small.run_copies,
  small.op_id
FROM small
JOIN about
  ON about.direction = small.direction
WHERE small.start_ns < small.last_ns
  AND small.next_ns > small.start_ns
  AND small.start_ns - small.run_start_ns >= small.run_ns
ORDER BY small.gpu_id, small.start_ns, small.op_id
