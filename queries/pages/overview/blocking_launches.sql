/*---
name: blocking_launches
version: 1
title: Launches that wait for their kernels
summary: How many launch calls of a process last until their kernel is done.
why: To see that the host cannot launch ahead, because CUDA_LAUNCH_BLOCKING or a tool makes launches wait.
kind: info
internal: true
tags: [cuda, kernel, latency]
reads: [gpu_window, launch]
requires: [launch]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE 20 * idle_ns >= window_ns) AND coalesce((SELECT 2 * sum(call_end_ns >= end_ns) > count(*) FROM (SELECT call_end_ns, end_ns FROM launch WHERE op_kind = 'kernel' AND dur_ns >= 10000 LIMIT 2000)), 0)
params:
  - {name: at_least, type: duration, default: 10us, min: 0, doc: "Shortest kernel to count: a launch call may outlast a shorter one."}
  - {name: least_pct, type: real, default: 90, min: 0, max: 100, doc: "Smallest share of the launches that must wait, in percent."}
columns:
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 0, doc: "Launch calls of kernels of this length or more."}
  - {name: waiting_count, type: int, unit: count, label: "that wait", priority: 0, doc: "Those that return after their kernel has ended."}
checks:
  - waiting_count <= launch_count
limits: Kernels of a graph start after its launch call began, and count as the others.
see_also: [host_sync, launch_latency]
---*/
SELECT count(*) AS launch_count, sum(call_end_ns >= end_ns) AS waiting_count
FROM launch
WHERE op_kind = 'kernel'
  AND dur_ns >= :at_least
  AND call_id IS NOT NULL
GROUP BY pid
HAVING 100.0 * sum(call_end_ns >= end_ns) >= :least_pct * count(*)
ORDER BY count(*) DESC, pid
LIMIT 1
