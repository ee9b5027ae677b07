/*---
name: um_sum
version: 1
title: Unified memory by page
summary: Migrations and page faults of unified memory per page, highest bandwidth first.
why: To find the pages that travel between host and GPU, and whether page faults cause it.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, um_cpu_page_fault, um_gpu_page_fault]
requires: [um_cpu_page_fault | um_gpu_page_fault]
params:
  - {name: limit, type: int, default: 10, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: pid, type: id, doc: "Operating system process ID that the address belongs to."}
  - {name: htod_bytes, type: bytes, unit: bytes, label: "host to GPU", priority: 1, doc: "Bytes migrated from host to GPU."}
  - {name: dtoh_bytes, type: bytes, unit: bytes, label: "GPU to host", priority: 1, doc: "Bytes migrated from GPU to host."}
  - {name: migrations, type: int, unit: count, priority: 1, doc: "Migrations between host and GPU."}
  - {name: total_ns, type: duration, unit: ns, label: "migration time", doc: "Sum of migration times; 0 without migrations."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", doc: "Bytes migrated per second of total_ns; null if total_ns is 0."}
  - {name: cpu_faults, type: int, unit: count, label: "CPU faults", priority: 1, doc: "CPU page faults at the address."}
  - {name: gpu_faults, type: int, unit: count, label: "GPU faults", priority: 1, doc: "GPU page faults at the address."}
  - {name: page_address, type: text, label: "address", priority: 0, doc: "Address in hexadecimal; null if the migrations have no address. Each direction is then a row."}
checks:
  - migrations + cpu_faults + gpu_faults >= 1
  - (rate_bytes_per_s IS NULL) = (total_ns = 0)
when_empty: "no page of unified memory migrated or faulted"
limits: >-
  Migrations from GPU to GPU are not included. A migration and a fault share a row if they have the same address, so a
  migration of many pages gets only the faults of its first page. The query needs recorded CPU or GPU page faults.
  NVIDIA's report adds up equal addresses of different processes, although they are different pages.
see_also: [um_total_sum, um_cpu_page_faults_sum, cuda_gpu_mem_size_sum]
nsys:
  title: Unified Memory Analysis Summary
  args:
    - {name: rows, param: limit}
  lacks:
    - {without: memcpy, says: "CUDA memory transfers data"}
    - {says: "CUDA Unified Memory CPU page faults data"}
  columns:
    - {name: Virtual Address, sql: page_address}
    - {name: HtoD Migration size, unit: mb, sql: "nullif(htod_bytes, 0)"}
    - {name: DtoH Migration size, unit: mb, sql: "nullif(dtoh_bytes, 0)"}
    - {name: CPU Page Faults, sql: "nullif(cpu_faults, 0)"}
    - {name: " GPU Page Faults", sql: "nullif(gpu_faults, 0)"}
    - {name: Migration Throughput, unit: mb/s, sql: (htod_bytes + dtoh_bytes) * (1000000000 / total_ns)}
---*/
WITH
page_event AS (
  SELECT
    pid,
    virtual_address AS address,
    direction,
    CASE direction WHEN 'Unified Host-to-Device' THEN size_bytes ELSE 0 END AS htod_bytes,
    CASE direction WHEN 'Unified Device-to-Host' THEN size_bytes ELSE 0 END AS dtoh_bytes,
    1 AS migrations,
    dur_ns,
    0 AS cpu_faults,
    0 AS gpu_faults
  FROM memcpy
  WHERE direction IN ('Unified Host-to-Device', 'Unified Device-to-Host')
  UNION ALL
  SELECT pid, address, NULL, 0, 0, 0, 0, 1, 0
  FROM um_cpu_page_fault
  UNION ALL
  SELECT pid, address, NULL, 0, 0, 0, 0, 0, faults
  FROM um_gpu_page_fault
),
page AS (
  SELECT
    pid,
    address,
    CASE WHEN address IS NULL THEN direction END AS lone_direction,
    sum(htod_bytes) AS htod_bytes,
    sum(dtoh_bytes) AS dtoh_bytes,
    sum(migrations) AS migrations,
    sum(dur_ns) AS total_ns,
    sum(cpu_faults) AS cpu_faults,
    sum(gpu_faults) AS gpu_faults
  FROM page_event
  GROUP BY pid, address, lone_direction
)
SELECT
  pid,
  htod_bytes,
  dtoh_bytes,
  migrations,
  total_ns,
  1e9 * (htod_bytes + dtoh_bytes) / nullif(total_ns, 0) AS rate_bytes_per_s,
  cpu_faults,
  gpu_faults,
  CASE WHEN address IS NOT NULL THEN printf('0x%X', address) END AS page_address
FROM page
ORDER BY rate_bytes_per_s DESC, pid, address, lone_direction
LIMIT :limit
