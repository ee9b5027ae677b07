/*---
name: decompression_sum
version: 1
title: Decompression on the GPU
summary: Time and bytes of the decompression engine per device.
why: To see how fast compressed data is unpacked on the GPU.
kind: sum
tags: [cuda, gpu, memory]
reads: [decompression]
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, label: "device", priority: 0, doc: "CUDA device ordinal within its process."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "Runs of the engine."}
  - {name: buffer_count, type: int, unit: count, label: "buffers", priority: 1, doc: "Buffers that were decompressed."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Sum of the durations."}
  - {name: busy_ns, type: duration, unit: ns, label: "busy", priority: 1, doc: "Time in which at least one operation ran."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 2, doc: "Mean duration of an operation."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 2, doc: "Longest operation."}
  - {name: source_bytes, type: bytes, unit: bytes, label: "compressed", priority: 1, doc: "Compressed bytes that were read."}
  - {name: source_bytes_per_s, type: real, unit: bytes_per_s, label: "rate", priority: 1, doc: "source_bytes per busy time; null if that is 0."}
checks:
  - op_count >= 1 AND busy_ns <= total_ns
limits: The report has the compressed size only, so the rate of the unpacked data is higher.
see_also: [memory_ops, memcpy_bandwidth]
---*/
SELECT
  pid,
  device_id,
  count(*) AS op_count,
  sum(buffer_count) AS buffer_count,
  sum(dur_ns) AS total_ns,
  busy_ns(start_ns, end_ns) AS busy_ns,
  avg(dur_ns) AS mean_ns,
  max(dur_ns) AS max_ns,
  sum(source_bytes) AS source_bytes,
  1e9 * sum(source_bytes) / nullif(busy_ns(start_ns, end_ns), 0) AS source_bytes_per_s
FROM decompression
GROUP BY global_pid, pid, device_id
ORDER BY total_ns DESC, global_pid, pid, device_id
