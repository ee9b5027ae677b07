/*---
name: rank_kernels
version: 1
title: Kernels of each rank
summary: Time and calls of each compute kernel, by GPU.
why: To see in which kernels the ranks of a job differ.
kind: sum
tags: [gpu, kernel]
internal: true
reads: [kernel, process_device, string]
requires: [kernel]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: class, type: text, priority: 1, doc: "Class of the kernels, by the class map of --classes."}
  - {name: simple_name, type: text, label: "kernel", priority: 0, doc: "Function name."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Kernels that ran."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 0, doc: "Sum of their execution times."}
checks:
  - total_ns >= 0
when_empty: "no compute kernel was recorded"
limits: Kernels of different functions with the same name and class count as one. Communication kernels are left out.
see_also: [rank_measures]
---*/
WITH
called AS MATERIALIZED (
  SELECT pid, device_id, name_id, count(*) AS call_count, sum(dur_ns) AS total_ns
  FROM kernel
  GROUP BY pid, device_id, name_id
),
named AS MATERIALIZED (
  SELECT
    name_id,
    simple_name(kernel_name) AS simple_name,
    coalesce(op_class(kernel_name), 'others') AS class
  FROM (
    SELECT name_id, (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
    FROM (SELECT DISTINCT name_id FROM called)
  )
  WHERE op_activity(kernel_name) = 'compute'
)
SELECT
  process_device.gpu_id,
  named.class,
  named.simple_name,
  sum(called.call_count) AS call_count,
  sum(called.total_ns) AS total_ns
FROM called
JOIN named
  ON named.name_id = called.name_id
JOIN process_device
  ON process_device.pid IS NOT DISTINCT FROM called.pid
  AND process_device.device_id = called.device_id
GROUP BY process_device.gpu_id, named.class, named.simple_name
ORDER BY process_device.gpu_id, named.class, named.simple_name
