/*---
name: um_sum
version: 1
title: Unified memory by page
summary: Migrations and page faults of unified memory per page, fastest moves first.
why: To find the pages that travel between host and GPU, and whether faults drove them.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, um_cpu_page_fault, um_gpu_page_fault]
requires: [um_cpu_page_fault | um_gpu_page_fault]
params:
  - {name: limit, type: int, default: 10, min: -1, doc: "Rows to return; -1 returns all."}
columns:
  - {name: pid, type: id, doc: "Operating system's process id, whose address it is."}
  - {name: htod_bytes, type: bytes, unit: bytes, doc: "Bytes that moved from host to GPU."}
  - {name: dtoh_bytes, type: bytes, unit: bytes, doc: "Bytes that moved from GPU to host."}
  - {name: migrations, type: int, unit: count, doc: "Moves between host and GPU."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the times of the moves; 0 without any."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bytes moved per second of moving; null where nothing moved."}
  - {name: cpu_faults, type: int, unit: count, doc: "Page faults of the CPU at the address."}
  - {name: gpu_faults, type: int, unit: count, doc: "Page faults of GPUs at the address."}
  - {name: page_address, type: text, doc: "Address in hexadecimal; null where the moves carry none, and each direction is then a row."}
checks:
  - migrations + cpu_faults + gpu_faults >= 1
  - (rate_bytes_per_s IS NULL) = (total_ns = 0)
limits: >-
  Moves from GPU to GPU are not in it. Moves and faults meet where they name one address, so a move of many pages takes
  the faults of its first page alone. Needs recorded page faults; um_total_sum does not. NVIDIA's report adds up equal
  addresses of different processes, which are different pages.
see_also: [um_total_sum, um_cpu_page_faults_sum, cuda_gpu_mem_size_sum]
nsys:
  title: Unified Memory Analysis Summary
  args:
    - {name: rows, param: limit}
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
