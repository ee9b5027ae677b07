/*---
name: memory_ops
version: 1
title: Cost of memory operations
summary: Time of copies and fills per device, direction, kind of memory and size class.
why: To see what memory traffic costs, and whether it is few large copies or many small ones.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [memcpy, memset, scope]
requires: [memcpy | memset]
columns:
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "A name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
  - {name: src_memory, type: text, label: "source memory", doc: "Kind of source memory, such as Pinned; null if unknown and for a fill."}
  - {name: dst_memory, type: text, label: "destination memory", doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: size_class, type: text, priority: 0, doc: "Range of sizes, without its upper bound. 1 KiB is 1024 bytes; null if unknown."}
  - {name: from_bytes, type: bytes, unit: bytes, label: "smallest size", priority: 3, doc: "Lower bound of size_class; null if the size is unknown."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of operations."}
  - {name: time_pct, type: percent, unit: percent, label: "share of memory op time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, label: "total time", priority: 1, doc: "Sum of durations. Operations that overlap, or that cross an end of --time, count in full."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one of these operations ran, cut to --time."}
  - {name: median_ns, type: duration, unit: ns, label: "median time", priority: 3, doc: "Median duration of an operation."}
  - {name: total_bytes, type: bytes, unit: bytes, label: "total size", priority: 1, doc: "Sum of bytes copied or written, of whole operations; null if no size is known."}
  - {name: mean_size_bytes, type: bytes, unit: bytes, doc: "Mean size of an operation."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", priority: 1, doc: "Bytes moved in busy_ns, per second; null if busy_ns is 0 or no size is known."}
  - {name: median_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "median bandwidth", priority: 3, doc: "Median bandwidth of an operation by itself; null if all operations took 0 ns."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: src_device_id, type: id, label: "source CUDA device", priority: 3, doc: "CUDA device ordinal of the source; null if none or unknown."}
  - {name: dst_device_id, type: id, label: "destination CUDA device", priority: 3, doc: "CUDA device ordinal of the destination; null if none or unknown."}
checks:
  - calls >= 1 AND (total_bytes IS NULL OR total_bytes >= 0)
  - busy_ns BETWEEN 0 AND total_ns
  - (rate_bytes_per_s IS NULL) = (busy_ns = 0 OR total_bytes IS NULL)
  - (from_bytes IS NULL) = (total_bytes IS NULL)
when_empty: "no copy or fill was recorded"
limits: >-
  Times are those of the GPU; cuda_api_sum has what the calls cost the host. Rows can overlap in time, so their busy_ns
  does not add up to the time in which the GPU moved memory. The rows do not show how much of that time kernels hid. A
  copy within one GPU both reads and writes its bytes, so the memory moves twice the bytes shown. Copies in a CUDA graph
  traced as a whole are not included. For a copy that crosses an end of --time, the bandwidth uses its bytes in
  proportion; under --window it counts whole. Reads and writes of kernels are not memory operations.
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
-- Size classes by their lower bound. An operation that crosses an end of --time is busy up to that end.
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
),
summed AS (
  SELECT
    min(op_name) AS op_name,
    min(src_memory) AS src_memory,
    min(dst_memory) AS dst_memory,
    op_kind,
    copy_kind,
    src_kind,
    dst_kind,
    global_pid,
    device_id,
    src_device_id,
    dst_device_id,
    from_bytes,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    busy_ns(from_ns, to_ns) AS busy_ns,
    median(dur_ns) AS median_ns,
    sum(size_bytes) AS total_bytes,
    avg(size_bytes) AS mean_size_bytes,
    -- For an operation that crosses an end of --time, only the bytes of the part inside.
    sum(iif(to_ns - from_ns < dur_ns, 1.0 * size_bytes * (to_ns - from_ns) / dur_ns, size_bytes)) AS inside_bytes,
    median(1e9 * size_bytes / nullif(dur_ns, 0)) AS median_rate_bytes_per_s
  FROM classed
  GROUP BY op_kind, copy_kind, src_kind, dst_kind, global_pid, device_id, src_device_id, dst_device_id, from_bytes
)
SELECT
  op_name,
  src_memory,
  dst_memory,
  CASE from_bytes
    WHEN 0 THEN 'under 4 KiB'
    WHEN 4096 THEN '4 to 64 KiB'
    WHEN 65536 THEN '64 KiB to 1 MiB'
    WHEN 1048576 THEN '1 to 16 MiB'
    WHEN 16777216 THEN '16 to 256 MiB'
    WHEN 268435456 THEN '256 MiB and over'
  END AS size_class,
  from_bytes,
  calls,
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  busy_ns,
  median_ns,
  total_bytes,
  mean_size_bytes,
  1e9 * inside_bytes / nullif(busy_ns, 0) AS rate_bytes_per_s,
  median_rate_bytes_per_s,
  global_pid >> 24 & 16777215 AS pid,
  device_id,
  src_device_id,
  dst_device_id
FROM summed
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
