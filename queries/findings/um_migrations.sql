/*---
name: um_migrations
version: 1
title: Unified memory that moves while nothing runs
summary: Time in which unified memory migrated, and no kernel ran.
why: To see what prefetching of unified memory could win.
kind: finding
tags: [gpu, memory, unified-memory]
reads: [exposed_part, memcpy]
finding:
  claim: Unified memory moves between host and device while no kernel runs.
  ceiling: Time in which pages migrated and no kernel ran. A kernel that waits for a page does not count.
  remedy: >-
    Prefetch with cudaMemPrefetchAsync and give hints with cudaMemAdvise, or use explicit copies.
  link: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-memory-programming
  confidence: medium
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "direction", priority: 0, doc: "Direction of the migration."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  A kernel that faults runs while its pages move, so most of the cost of faults is inside kernels.
see_also: [um_sum, um_total_sum]
---*/
SELECT
  exposed_part.gpu_id,
  exposed_part.start_ns + exposed_part.late_ns AS start_ns,
  exposed_part.dur_ns - exposed_part.late_ns AS dur_ns,
  memcpy.direction AS subject,
  memcpy.size_bytes,
  exposed_part.op_id
FROM exposed_part
CROSS JOIN memcpy
WHERE exposed_part.op_kind = 'memcpy'
  AND memcpy.memcpy_id = exposed_part.op_id
  AND memcpy.migration_cause IS NOT NULL
  AND exposed_part.dur_ns > exposed_part.late_ns
ORDER BY exposed_part.gpu_id, exposed_part.start_ns, exposed_part.op_id
