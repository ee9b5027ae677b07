/*---
name: um_total_sum
version: 1
title: Unified memory in total
summary: All migrations and page faults of unified memory, in one row.
why: To see at a glance whether unified memory costs anything in this program.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, um_cpu_page_fault, um_gpu_page_fault]
requires: [um_cpu_page_fault | um_gpu_page_fault]
columns:
  - {name: htod_bytes, type: bytes, unit: bytes, label: "host to GPU", priority: 1, doc: "Bytes migrated from host to GPU."}
  - {name: dtoh_bytes, type: bytes, unit: bytes, label: "GPU to host", priority: 1, doc: "Bytes migrated from GPU to host."}
  - {name: migrations, type: int, unit: count, doc: "Migrations between host and GPU."}
  - {name: total_ns, type: duration, unit: ns, label: "migration time", priority: 1, doc: "Sum of migration times; 0 without migrations."}
  - {name: cpu_faults, type: int, unit: count, label: "CPU faults", priority: 1, doc: "CPU page faults; also 0 if they were not recorded."}
  - {name: gpu_faults, type: int, unit: count, label: "GPU faults", priority: 1, doc: "GPU page faults; also 0 if they were not recorded."}
  - {name: first_address, type: text, priority: 3, doc: "Lowest migrated or faulting address, in hexadecimal; null if there is none."}
  - {name: last_address, type: text, priority: 3, doc: "Highest migrated or faulting address, in hexadecimal; null if there is none."}
checks:
  - htod_bytes >= 0 AND dtoh_bytes >= 0
  - cpu_faults >= 0 AND gpu_faults >= 0
limits: >-
  Migrations from GPU to GPU are not included. Page faults are recorded only with --cuda-um-cpu-page-faults=true and
  --cuda-um-gpu-page-faults=true. The query needs at least one of the two. Addresses of different processes are compared
  as if they were addresses of one process. NVIDIA's report fails if page faults were not recorded.
see_also: [um_sum, um_cpu_page_faults_sum, cuda_gpu_mem_size_sum]
nsys:
  title: Unified Memory Totals Summary
  lacks:
    - {without: memcpy, says: "CUDA memory transfers data"}
    - {says: "CUDA Unified Memory CPU page faults data"}
  columns:
    - {name: Total HtoD Migration Size, unit: mb, sql: "nullif(htod_bytes, 0)"}
    - {name: Total DtoH Migration Size, unit: mb, sql: "nullif(dtoh_bytes, 0)"}
    - {name: Total CPU Page Faults, sql: cpu_faults}
    - {name: Total GPU PageFaults, sql: "nullif(gpu_faults, 0)"}
    - {name: Minimum Virtual Address, sql: first_address}
    - {name: Maximum Virtual Address, sql: last_address}
---*/
WITH
page_event AS (
  SELECT
    virtual_address AS address,
    CASE direction WHEN 'Unified Host-to-Device' THEN size_bytes ELSE 0 END AS htod_bytes,
    CASE direction WHEN 'Unified Device-to-Host' THEN size_bytes ELSE 0 END AS dtoh_bytes,
    1 AS migrations,
    dur_ns,
    0 AS cpu_faults,
    0 AS gpu_faults
  FROM memcpy
  WHERE direction IN ('Unified Host-to-Device', 'Unified Device-to-Host')
  UNION ALL
  SELECT address, 0, 0, 0, 0, 1, 0
  FROM um_cpu_page_fault
  UNION ALL
  SELECT address, 0, 0, 0, 0, 0, faults
  FROM um_gpu_page_fault
)
SELECT
  coalesce(sum(htod_bytes), 0) AS htod_bytes,
  coalesce(sum(dtoh_bytes), 0) AS dtoh_bytes,
  coalesce(sum(migrations), 0) AS migrations,
  coalesce(sum(dur_ns), 0) AS total_ns,
  coalesce(sum(cpu_faults), 0) AS cpu_faults,
  coalesce(sum(gpu_faults), 0) AS gpu_faults,
  CASE WHEN min(address) IS NOT NULL THEN printf('0x%X', min(address)) END AS first_address,
  CASE WHEN max(address) IS NOT NULL THEN printf('0x%X', max(address)) END AS last_address
FROM page_event
ORDER BY cpu_faults
