/*---
name: job_processes
version: 1
title: Processes on GPUs, with wall clock
summary: The process on each GPU, its address, and when it was captured.
why: To see which reports are captures of one process, one after the other, and so no ranks.
kind: info
tags: [capture, gpu]
internal: true
reads: [capture, gpu, gpu_window, process_device]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if unknown."}
  - {name: bus_location, type: text, priority: 1, doc: "PCI address of the GPU; null if unknown."}
  - {name: from_utc_ns, type: int, unit: ns, label: "first work (UTC)", priority: 1, doc: "UTC time of the first operation on the GPU, in nanoseconds since 1970; null if unknown."}
  - {name: to_utc_ns, type: int, unit: ns, label: "last work (UTC)", priority: 1, doc: "UTC time of the end of the last one; null if unknown."}
checks:
  - to_utc_ns IS NULL OR to_utc_ns >= from_utc_ns
when_empty: "several processes use each GPU, or no operation was recorded"
limits: A GPU that several processes share has no row. The times are of the window that --time selects.
see_also: [job_members, ranks]
---*/
WITH
own AS MATERIALIZED (
  SELECT gpu_id, min(pid) AS pid
  FROM process_device
  GROUP BY gpu_id
  HAVING count(DISTINCT global_pid) = 1
),
clock AS MATERIALIZED (
  SELECT min(utc_start_ns) AS utc_start_ns
  FROM capture
)
SELECT
  own.gpu_id,
  own.pid,
  (SELECT min(bus_location) FROM gpu WHERE gpu.gpu_id = own.gpu_id) AS bus_location,
  clock.utc_start_ns + gpu_window.start_ns AS from_utc_ns,
  clock.utc_start_ns + gpu_window.end_ns AS to_utc_ns
FROM own
JOIN gpu_window
  ON gpu_window.gpu_id = own.gpu_id
CROSS JOIN clock
ORDER BY own.gpu_id
