/*---
name: memcpy_bandwidth
version: 1
title: Bandwidth of memory copies
summary: Bytes, time and bandwidth per direction, kind of memory and device.
why: Tells copies at full speed from those slowed by pageable memory or by small pieces.
kind: sum
tags: [cuda, memory]
reads: [memcpy]
columns:
  - {name: direction, type: text, doc: "Direction in words, such as Host-to-Device; kind N for a number nobody knows."}
  - {name: src_memory, type: text, doc: "Kind of the memory read, such as Pinned; null if unknown."}
  - {name: dst_memory, type: text, doc: "Kind of the memory written, such as Device; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: src_device_id, type: id, doc: "GPU that was read from; null if none or not said."}
  - {name: dst_device_id, type: id, doc: "GPU that was written to; null if none or not said."}
  - {name: calls, type: int, unit: count, doc: "Copies."}
  - {name: copied_bytes, type: bytes, unit: bytes, doc: "Bytes copied by all of them."}
  - {name: mean_size_bytes, type: bytes, unit: bytes, doc: "Mean size of a copy."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the copies' times; copies that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time of a copy."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median time of a copy."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "copied_bytes over total_ns; null if total_ns is 0."}
  - {name: min_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth of the slowest copy; null if all took 0 ns."}
  - {name: p10_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth that nine of ten copies reach, or null."}
  - {name: median_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth that half of the copies reach, or null."}
  - {name: p90_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth that one of ten copies reaches, or null."}
  - {name: max_rate_bytes_per_s, type: real, unit: bytes_per_s, doc: "Bandwidth of the fastest copy; null if all took 0 ns."}
checks:
  - calls >= 1 AND copied_bytes >= 0
  - rate_bytes_per_s IS NULL OR rate_bytes_per_s >= 0
  - min_rate_bytes_per_s IS NULL OR median_rate_bytes_per_s BETWEEN min_rate_bytes_per_s AND max_rate_bytes_per_s
limits: >-
  The spread counts every copy alike, however small; rate_bytes_per_s weighs them by their time. A copy within one GPU
  both reads and writes its bytes, so the memory moves twice what is told. A copy of 0 ns has no bandwidth of its own
  but counts in the totals. Devices of one ordinal in different processes are one row; narrow with --process to tell
  them apart. Copies that share a link slow each other down, which no row tells.
see_also: [cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_trace]
---*/
WITH
copy AS (
  SELECT
    copy_kind,
    direction,
    src_kind,
    src_memory,
    dst_kind,
    dst_memory,
    device_id,
    src_device_id,
    dst_device_id,
    size_bytes,
    dur_ns,
    1e9 * size_bytes / nullif(dur_ns, 0) AS copy_bytes_per_s
  FROM memcpy
)
SELECT
  min(direction) AS direction,
  min(src_memory) AS src_memory,
  min(dst_memory) AS dst_memory,
  device_id,
  src_device_id,
  dst_device_id,
  count(*) AS calls,
  sum(size_bytes) AS copied_bytes,
  avg(size_bytes) AS mean_size_bytes,
  sum(dur_ns) AS total_ns,
  avg(dur_ns) AS mean_ns,
  median(dur_ns) AS median_ns,
  1e9 * sum(size_bytes) / nullif(sum(dur_ns), 0) AS rate_bytes_per_s,
  min(copy_bytes_per_s) AS min_rate_bytes_per_s,
  percentile(copy_bytes_per_s, 10) AS p10_rate_bytes_per_s,
  median(copy_bytes_per_s) AS median_rate_bytes_per_s,
  percentile(copy_bytes_per_s, 90) AS p90_rate_bytes_per_s,
  max(copy_bytes_per_s) AS max_rate_bytes_per_s
FROM copy
GROUP BY copy_kind, src_kind, dst_kind, device_id, src_device_id, dst_device_id
ORDER BY total_ns DESC, copied_bytes DESC, copy_kind, src_kind, dst_kind, device_id, src_device_id, dst_device_id
