/*---
name: memory_ops
version: 1
title: Cost of memory operations
summary: Copies and fills by device, direction, kind of memory and size, costliest first.
why: Tells what memory traffic costs, and whether it is few large copies or many small ones.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, memset, scope]
requires: [memcpy | memset]
columns:
  - {name: op_name, type: text, doc: "[CUDA memcpy Host-to-Device] and its like, or [CUDA memset]."}
  - {name: src_memory, type: text, doc: "Kind of the memory read, such as Pinned; null if unknown and for a fill."}
  - {name: dst_memory, type: text, doc: "Kind of the memory written, such as Device; null if unknown."}
  - {name: size_class, type: text, doc: "Size of each operation, the upper bound excluded; 1 KiB is 1024 bytes; null if unknown."}
  - {name: from_bytes, type: bytes, unit: bytes, doc: "Lower bound of size_class; null if the size is unknown."}
  - {name: calls, type: int, unit: count, doc: "Operations."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the operations' times; those that overlap, or reach over an end of --time, count in full."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of their times, as far as it lies in --time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median time of an operation."}
  - {name: total_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written by all of them, whole; null if no size is known."}
  - {name: mean_size_bytes, type: bytes, unit: bytes, doc: "Mean size of an operation."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bytes that moved in busy_ns, per second of it; null if busy_ns is 0, or no size is known."}
  - {name: median_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth that half of the operations reach by themselves; null if all took 0 ns."}
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not say."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: src_device_id, type: id, doc: "GPU that was read from; null if none or not said."}
  - {name: dst_device_id, type: id, doc: "GPU that was written to; null if none or not said."}
checks:
  - calls >= 1 AND (total_bytes IS NULL OR total_bytes >= 0)
  - busy_ns BETWEEN 0 AND total_ns
  - (rate_bytes_per_s IS NULL) = (busy_ns = 0 OR total_bytes IS NULL)
  - (from_bytes IS NULL) = (total_bytes IS NULL)
limits: >-
  Times are those of the GPU: what the call cost the host is in cuda_api_sum. Rows may overlap in time, so their busy_ns do
  not add up to the time that the GPU moved memory; nor do they say how much of it kernels hid. A copy within one GPU both
  reads and writes its bytes, so the memory moves twice what is told. Copies inside a CUDA graph that was traced as a whole
  are not in it. Of a copy that reaches over an end of --time the rate has the bytes in proportion; with --window it counts
  whole. What kernels read and write is no memory operation.
see_also: [memcpy_bandwidth, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_memcpy_async]
---*/
WITH
operation AS (
  SELECT
    'memcpy' AS op_kind,
    copy_kind,
    '[CUDA memcpy ' || direction || ']' AS op_name,
    src_kind,
    src_memory,
    dst_kind,
    dst_memory,
    global_pid,
    device_id,
    src_device_id,
    dst_device_id,
    start_ns,
    end_ns,
    dur_ns,
    size_bytes
  FROM memcpy
  UNION ALL
  SELECT
    'memset' AS op_kind,
    NULL AS copy_kind,
    '[CUDA memset]' AS op_name,
    NULL AS src_kind,
    NULL AS src_memory,
    mem_kind AS dst_kind,
    memory AS dst_memory,
    global_pid,
    device_id,
    NULL AS src_device_id,
    NULL AS dst_device_id,
    start_ns,
    end_ns,
    dur_ns,
    size_bytes
  FROM memset
),
-- Classes by their lower bound. What reaches over an end of --time is busy up to that end.
classed AS (
  SELECT
    operation.*,
    max(operation.start_ns, coalesce(scope.start_ns, operation.start_ns)) AS from_ns,
    min(operation.end_ns, coalesce(scope.end_ns, operation.end_ns)) AS to_ns,
    CASE
      WHEN size_bytes < 4096 THEN 0
      WHEN size_bytes < 65536 THEN 4096
      WHEN size_bytes < 1048576 THEN 65536
      WHEN size_bytes < 16777216 THEN 1048576
      WHEN size_bytes < 268435456 THEN 16777216
      WHEN size_bytes >= 268435456 THEN 268435456
    END AS from_bytes
  FROM operation
  CROSS JOIN scope
)
SELECT
  min(op_name) AS op_name,
  min(src_memory) AS src_memory,
  min(dst_memory) AS dst_memory,
  CASE from_bytes
    WHEN 0 THEN 'under 4 KiB'
    WHEN 4096 THEN '4 to 64 KiB'
    WHEN 65536 THEN '64 KiB to 1 MiB'
    WHEN 1048576 THEN '1 to 16 MiB'
    WHEN 16777216 THEN '16 to 256 MiB'
    WHEN 268435456 THEN '256 MiB and over'
  END AS size_class,
  from_bytes,
  count(*) AS calls,
  100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS time_pct,
  sum(dur_ns) AS total_ns,
  busy_ns(from_ns, to_ns) AS busy_ns,
  median(dur_ns) AS median_ns,
  sum(size_bytes) AS total_bytes,
  avg(size_bytes) AS mean_size_bytes,
  -- Of an operation that reaches over an end of --time, the bytes of the part inside.
  1e9 * sum(iif(to_ns - from_ns < dur_ns, 1.0 * size_bytes * (to_ns - from_ns) / dur_ns, size_bytes))
    / nullif(busy_ns(from_ns, to_ns), 0) AS rate_bytes_per_s,
  median(1e9 * size_bytes / nullif(dur_ns, 0)) AS median_rate_bytes_per_s,
  global_pid >> 24 & 16777215 AS pid,
  device_id,
  src_device_id,
  dst_device_id
FROM classed
GROUP BY op_kind, copy_kind, src_kind, dst_kind, global_pid, device_id, src_device_id, dst_device_id, from_bytes
ORDER BY
  total_ns DESC,
  total_bytes DESC,
  op_kind,
  copy_kind,
  src_kind,
  dst_kind,
  global_pid,
  device_id,
  src_device_id,
  dst_device_id,
  from_bytes
