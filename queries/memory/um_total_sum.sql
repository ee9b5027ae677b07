/*---
name: um_total_sum
version: 1
title: Unified memory in total
summary: One row with all migrations and page faults of unified memory.
why: To see at a glance whether unified memory costs anything in this program.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, um_cpu_page_fault, um_gpu_page_fault]
requires: [um_cpu_page_fault | um_gpu_page_fault]
columns:
  - {name: htod_bytes, type: bytes, unit: bytes, doc: "Bytes that moved from host to GPU."}
  - {name: dtoh_bytes, type: bytes, unit: bytes, doc: "Bytes that moved from GPU to host."}
  - {name: migrations, type: int, unit: count, doc: "Moves between host and GPU."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the times of the moves; 0 without any."}
  - {name: cpu_faults, type: int, unit: count, doc: "Page faults of the CPU; 0 also where they were not recorded."}
  - {name: gpu_faults, type: int, unit: count, doc: "Page faults of GPUs; 0 also where they were not recorded."}
  - {name: first_address, type: text, doc: "Lowest address moved or faulted at, in hexadecimal; null without any."}
  - {name: last_address, type: text, doc: "Highest address moved or faulted at, in hexadecimal; null without any."}
checks:
  - htod_bytes >= 0 AND dtoh_bytes >= 0
  - cpu_faults >= 0 AND gpu_faults >= 0
limits: >-
  Moves from GPU to GPU are not in it. Page faults are recorded only with --cuda-um-cpu-page-faults=true and
  --cuda-um-gpu-page-faults=true. Addresses of different processes are compared as if they were one's. NVIDIA's report
  declines where page faults were not recorded.
see_also: [um_sum, um_cpu_page_faults_sum, cuda_gpu_mem_size_sum]
nsys:
  title: Unified Memory Totals Summary
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
