/*---
name: late_ranks
version: 1
title: Collectives that wait for other ranks
summary: Operations of a report's only GPU whose late calls have most exposed time.
why: To look at the other ranks first, where those of one GPU's collectives that transfer are fast enough.
kind: sum
internal: true
tags: [communication, gpu]
reads: []
asks: [gpu_parts, late_collectives]
params:
  - {name: least_pct, type: real, default: 50, min: 0, max: 100, doc: "Smallest wait as a share of the exposed communication, in percent."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Place by the time that they wait, from 1."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast or another."}
  - {name: late_count, type: int, unit: count, label: "late", priority: 0, doc: "Late collectives, as in late_collectives."}
  - {name: op_count, type: int, unit: count, label: "collectives", priority: 0, doc: "All whose usual time is known."}
  - {name: late_ns, type: duration, unit: ns, label: "late ones", priority: 1, doc: "Mean time of the late ones."}
  - {name: median_ns, type: duration, unit: ns, label: "usual", priority: 1, doc: "Mean of the usual times of the late ones."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 1, doc: "What the late ones take beyond their usual times."}
checks:
  - wait_ns > 0
limits: See late_collectives. Reports of several GPUs have no row, because their GPUs show themselves which one is late.
see_also: [late_collectives]
---*/
WITH
-- Waits that kernels hide are no reason to look elsewhere.
only_gpu AS (
  SELECT max(exposed_communication_ns) AS exposed_ns
  FROM gpu_parts
  HAVING count(*) = 1
)
SELECT
  row_number() OVER (ORDER BY late.wait_ns DESC, late.operation) AS rank,
  late.operation,
  late.late_count,
  late.op_count,
  late.late_ns,
  late.median_ns,
  late.wait_ns
FROM only_gpu
CROSS JOIN late_collectives AS late
WHERE 100.0 * late.wait_ns >= :least_pct * coalesce(only_gpu.exposed_ns, 0)
ORDER BY rank
