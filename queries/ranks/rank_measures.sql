/*---
name: rank_measures
version: 1
title: Measures of ranks
summary: Times of each GPU that can be compared over the ranks of a program.
why: To see by rank_balance which measure differs between ranks.
kind: info
tags: [communication, gpu, nvtx]
reads: [gpu_window, step_window, kernel, process_device, rank, string]
requires: [gpu_window]
columns:
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program, if one process ran work on the GPU and on no other, and its rank is known; else null."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: measure, type: text, priority: 0, doc: "What was measured: window and its parts, iterations, and kernels by class."}
  - {name: value_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "The time."}
checks:
  - value_ns >= 0
when_empty: "no GPU operation was recorded"
limits: >-
  compute, exposed communication, exposed copies and idle add up to window, the time from the first to the last GPU
  operation. Kernels count in full, also while others run. Class of a kernel from its name, by the class map of --classes.
see_also: [rank_balance, gpu_time, class_sum]
---*/
WITH
owner AS MATERIALIZED (
  SELECT process_device.gpu_id, min(rank.rank) AS rank, count(DISTINCT process_device.pid) AS process_count
  FROM process_device
  LEFT JOIN rank
    ON rank.pid = process_device.pid
    AND rank.gpu_count = 1
  GROUP BY process_device.gpu_id
),
gpu AS MATERIALIZED (
  SELECT *
  FROM gpu_window
),
called AS MATERIALIZED (
  SELECT pid, device_id, name_id, sum(dur_ns) AS total_ns
  FROM kernel
  GROUP BY pid, device_id, name_id
),
named AS MATERIALIZED (
  SELECT name_id, coalesce(op_class((SELECT text FROM string WHERE string_id = name_id)), 'others') AS class
  FROM (SELECT DISTINCT name_id FROM called)
),
measured AS (
  SELECT gpu_id, 'window' AS measure, window_ns AS value_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'compute', compute_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'exposed communication', exposed_communication_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'exposed copies', exposed_memory_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'idle', idle_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'communication, hidden or exposed', communication_ns
  FROM gpu
  UNION ALL
  SELECT gpu_id, 'median iteration', CAST(median(dur_ns) AS INTEGER)
  FROM step_window
  WHERE part IN ('median', 'steady')
  GROUP BY gpu_id
  UNION ALL
  SELECT gpu_id, 'longest iteration', max(dur_ns)
  FROM step_window
  WHERE part IN ('median', 'steady')
  GROUP BY gpu_id
  UNION ALL
  SELECT process_device.gpu_id, 'kernels of class ' || named.class, sum(called.total_ns)
  FROM called
  JOIN named
    ON named.name_id = called.name_id
  JOIN process_device
    ON process_device.pid IS NOT DISTINCT FROM called.pid
    AND process_device.device_id = called.device_id
  GROUP BY process_device.gpu_id, named.class
)
SELECT
  iif(owner.process_count = 1, owner.rank, NULL) AS rank,
  measured.gpu_id,
  measured.measure,
  measured.value_ns
FROM measured
LEFT JOIN owner
  ON owner.gpu_id = measured.gpu_id
ORDER BY measured.gpu_id, measured.measure
