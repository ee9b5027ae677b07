/*---
name: memcpy_bandwidth
version: 1
title: Bandwidth of memory copies
summary: Bytes, time and bandwidth of copies per direction, kind of memory and device.
why: To tell copies at full speed from copies slowed by pageable memory or by small sizes.
kind: sum
tags: [cuda, memory]
reads: [memcpy]
columns:
  - {name: direction, type: text, priority: 0, doc: "Direction, such as Host-to-Device; kind N for an unknown copy kind N."}
  - {name: src_memory, type: text, label: "source memory", priority: 0, doc: "Kind of source memory, such as Pinned; null if unknown."}
  - {name: dst_memory, type: text, label: "destination memory", priority: 0, doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: device_id, type: id, label: "CUDA device", doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: src_device_id, type: id, label: "source CUDA device", priority: 3, doc: "CUDA device ordinal of the source; null if none or unknown."}
  - {name: dst_device_id, type: id, label: "destination CUDA device", priority: 3, doc: "CUDA device ordinal of the destination; null if none or unknown."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of copies."}
  - {name: copied_bytes, type: bytes, unit: bytes, priority: 1, doc: "Sum of bytes copied."}
  - {name: mean_size_bytes, type: bytes, unit: bytes, doc: "Mean size of a copy."}
  - {name: total_ns, type: duration, unit: ns, label: "total time", priority: 1, doc: "Sum of durations; overlapping copies count in full."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean time", priority: 3, doc: "Mean duration of a copy."}
  - {name: median_ns, type: duration, unit: ns, label: "median time", priority: 3, doc: "Median duration of a copy."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", priority: 1, doc: "copied_bytes divided by total_ns; null if total_ns is 0."}
  - {name: min_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "min bandwidth", priority: 3, doc: "Bandwidth of the slowest copy; null if all copies took 0 ns."}
  - {name: p10_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "p10 bandwidth", priority: 3, doc: "Bandwidth that nine of ten copies reach; null if all copies took 0 ns."}
  - {name: median_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "median bandwidth", priority: 1, doc: "Median bandwidth of a copy; null if all copies took 0 ns."}
  - {name: p90_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "p90 bandwidth", priority: 3, doc: "Bandwidth that one of ten copies reaches; null if all copies took 0 ns."}
  - {name: max_rate_bytes_per_s, type: real, unit: bytes_per_s, label: "max bandwidth", priority: 3, doc: "Bandwidth of the fastest copy; null if all copies took 0 ns."}
checks:
  - calls >= 1 AND copied_bytes >= 0
  - rate_bytes_per_s IS NULL OR rate_bytes_per_s >= 0
  - min_rate_bytes_per_s IS NULL OR median_rate_bytes_per_s BETWEEN min_rate_bytes_per_s AND max_rate_bytes_per_s
when_empty: "no copy was recorded"
limits: >-
  The percentiles give every copy the same weight; rate_bytes_per_s weights copies by their time. A copy within one
  GPU both reads and writes its bytes, so the memory moves twice the bytes shown. A copy of 0 ns has no bandwidth of its
  own, but counts in the totals. Devices of the same ordinal in different processes share a row; use --process to
  separate them. Copies that share a link slow each other down; the rows do not show this.
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
