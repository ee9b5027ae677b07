/*---
name: pipeline_time
version: 1
title: Time of a pipeline stage
summary: Time of each GPU in compute, in sends and receives, and idle.
why: To see what pipeline_bubbles is made of.
kind: info
tags: [communication, gpu]
reads: [exposed_part, gpu_window, process_device]
requires: [gpu_window]
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if several processes ran work on the GPU."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 2, doc: "Start of the first operation, on the report's clock."}
  - {name: window_ns, type: duration, unit: ns, label: "window", priority: 1, doc: "From there to the end of the last operation: the sum of the next five columns."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_p2p_ns, type: duration, unit: ns, label: "exposed sends and receives", priority: 1, doc: "Time in which a kernel that sends or receives ran and no compute kernel did."}
  - {name: other_communication_ns, type: duration, unit: ns, label: "other exposed communication", priority: 1, doc: "Time in which another communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Time in which nothing ran."}
checks:
  - compute_ns + exposed_p2p_ns + other_communication_ns + exposed_memory_ns + idle_ns = window_ns
when_empty: "no GPU operation was recorded"
limits: >-
  A kernel sends or receives by its name. Where several communication kernels run together, the time counts for the one
  that started first. With --iter or --time, the window is that of the scope.
see_also: [pipeline_bubbles, gpu_time, point_to_point]
---*/
WITH
p2p AS MATERIALIZED (
  SELECT gpu_id, sum(dur_ns) AS p2p_ns
  FROM exposed_part
  WHERE activity = 'communication'
    AND collective(op_name) = 'SendRecv'
  GROUP BY gpu_id
),
owner AS MATERIALIZED (
  SELECT gpu_id, iif(count(DISTINCT pid) = 1, min(pid), NULL) AS pid
  FROM process_device
  GROUP BY gpu_id
)
SELECT
  owner.pid,
  gpu_window.gpu_id,
  gpu_window.start_ns,
  gpu_window.window_ns,
  gpu_window.compute_ns,
  coalesce(p2p.p2p_ns, 0) AS exposed_p2p_ns,
  gpu_window.exposed_communication_ns - coalesce(p2p.p2p_ns, 0) AS other_communication_ns,
  gpu_window.exposed_memory_ns,
  gpu_window.idle_ns
FROM gpu_window
LEFT JOIN p2p
  ON p2p.gpu_id = gpu_window.gpu_id
LEFT JOIN owner
  ON owner.gpu_id = gpu_window.gpu_id
ORDER BY gpu_window.gpu_id
