/*---
name: um_migrations
version: 2
title: Unified memory migrations
summary: Time in which pages of unified memory migrated because they were missing.
why: To see what prefetching of unified memory could save.
kind: finding
tags: [gpu, memory, unified-memory]
reads: [gpu_overlap, memcpy]
finding:
  claim: "Unified memory: pages migrate between host and device on faults, and the kernel or the host waits."
  ceiling: Time in which pages migrated, also while a kernel ran, since it waits for its pages. Prefetches of the program do not count.
  remedy: >-
    Prefetch with cudaMemPrefetchAsync and give hints with cudaMemAdvise, or use explicit copies.
  link: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-memory-programming
  confidence: medium
  edit: "idle=@\nwork=@"
  frees: idle
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the migration, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the migration."}
  - {name: subject, type: text, label: "direction", priority: 0, doc: "Direction of the migration; of pages that make room for others, with the word evicted."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  A kernel may have other work while pages move, and handling a fault takes longer than the copy. Migrations that overlap
  count once.
see_also: [um_sum, um_total_sum]
---*/
SELECT
  gpu_overlap.gpu_id,
  gpu_overlap.start_ns,
  gpu_overlap.dur_ns,
  memcpy.direction || iif(memcpy.migration_cause = 'Eviction', ', evicted', '') AS subject,
  memcpy.size_bytes,
  memcpy.memcpy_id AS op_id
FROM memcpy
CROSS JOIN gpu_overlap
WHERE memcpy.migration_cause <> 'User prefetch'
  AND gpu_overlap.op_kind = 'memcpy'
  AND gpu_overlap.op_id = memcpy.memcpy_id
ORDER BY gpu_overlap.gpu_id, gpu_overlap.start_ns, op_id
