/*---
name: um_migrations
version: 3
title: Unified memory migrations
summary: Time in which pages of unified memory migrated because they were missing.
why: To see what prefetching of unified memory could save.
kind: finding
tags: [gpu, memory, unified-memory]
reads: [gpu_overlap, memcpy]
finding:
  claim: "Unified memory: pages migrate between host and device on faults, and the kernel or the host waits."
  ceiling: Time in which pages migrated or the next fault was handled, also while a kernel ran, since it waits for its pages. Prefetches of the program do not count.
  remedy: >-
    Prefetch with cudaMemPrefetchAsync and give hints with cudaMemAdvise, or use explicit copies.
  link: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-memory-programming
  confidence: medium
  edit: "idle=@\nwork=@"
  frees: idle
params:
  - {name: handling, type: duration, default: 100us, min: 0, doc: "Longest time between two migrations that counts as the handling of the next fault of the GPU."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the migration, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the migration, and of the time until the next one, if both are for the same kernel and that is at most handling."}
  - {name: subject, type: text, label: "direction", priority: 0, doc: "Direction of the migration; of pages that make room for others, with the word evicted."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  A kernel may have other work while pages move or a fault is handled. Migrations that overlap count once.
see_also: [um_sum, um_total_sum]
---*/
WITH
migration AS MATERIALIZED (
  SELECT
    gpu_overlap.gpu_id,
    gpu_overlap.start_ns,
    gpu_overlap.end_ns,
    memcpy.direction || iif(memcpy.migration_cause = 'Eviction', ', evicted', '') AS subject,
    memcpy.direction = 'Unified Host-to-Device' AND memcpy.migration_cause = 'Page fault' AS is_for_gpu,
    memcpy.size_bytes,
    memcpy.memcpy_id AS op_id
  FROM memcpy
  CROSS JOIN gpu_overlap
  WHERE memcpy.migration_cause <> 'User prefetch'
    AND gpu_overlap.op_kind = 'memcpy'
    AND gpu_overlap.op_id = memcpy.memcpy_id
),
-- Kernels only if pages migrate.
begun AS (
  SELECT gpu_id, start_ns, 1 AS is_kernel, NULL AS end_ns, NULL AS subject, 0 AS is_for_gpu, NULL AS size_bytes, op_id
  FROM (SELECT 1 FROM migration LIMIT 1)
  CROSS JOIN gpu_overlap
  WHERE op_kind = 'kernel'
  UNION ALL
  SELECT gpu_id, start_ns, 0, end_ns, subject, is_for_gpu, size_bytes, op_id
  FROM migration
),
-- Only a kernel asks for pages of the host: from one migration to the next, the same kernel waits for the driver.
followed AS (
  SELECT
    *,
    lead(start_ns) OVER following AS next_ns,
    lead(is_for_gpu) OVER following AS is_next_for_gpu
  FROM begun
  WINDOW following AS (PARTITION BY gpu_id ORDER BY start_ns, is_kernel DESC, op_id)
)
SELECT
  gpu_id,
  start_ns,
  iif(is_for_gpu AND is_next_for_gpu AND next_ns - end_ns BETWEEN 0 AND :handling, next_ns, end_ns)
    - start_ns AS dur_ns,
  subject,
  size_bytes,
  op_id
FROM followed
WHERE NOT is_kernel
ORDER BY gpu_id, start_ns, op_id
