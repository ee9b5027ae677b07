/*---
name: nccl_sum
version: 2
title: Communication kernels
summary: GPU time per collective and communication kernel, largest total first.
why: To see which collectives cost time, with which algorithm and protocol, and how evenly.
kind: sum
tags: [communication, cuda, kernel]
reads: [kernel, string, torch_collective]
requires: [kernel]
columns:
  - {name: collective, type: text, priority: 0, doc: "Collective, such as AllReduce, AllGather or SendRecv, as PyTorch recorded it, else from the kernel name: Generic for NCCL's generic kernel, unknown if the name does not show it."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions, one on each rank."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: time_pct, type: percent, unit: percent, label: "share of kernel time", priority: 1, doc: "total_ns as a share of all kernels, including those that compute."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median execution time."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 1, doc: "Longest execution."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 2, doc: "Sum of the sizes of the calls, as in torch_collective; null if PyTorch recorded none."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled kernel name."}
checks:
  - calls >= 1
  - median_ns BETWEEN min_ns AND max_ns
  - time_pct BETWEEN 0 AND 100
when_empty: "no kernel is a collective"
limits: >-
  A communication kernel runs from its launch until all ranks have done their part, so its time includes waiting for the
  slowest rank. Sizes are those that PyTorch recorded: collectives has those of NCCL. NCCL, RCCL and custom kernels are recognised by
  name, others if PyTorch recorded what they run. Copies between GPUs that use no kernel are in memcpy_bandwidth. Kernels of a CUDA graph traced as a whole are not
  included.
see_also: [comm_overlap, class_sum, kernel_classes]
---*/
WITH
total AS (
  SELECT sum(dur_ns) AS all_ns
  FROM kernel
),
-- Look up each name once, by its ID.
named AS MATERIALIZED (
  SELECT name_id, (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM (SELECT DISTINCT name_id FROM kernel)
),
recorded AS MATERIALIZED (
  SELECT said.kernel_id, said.operation, said.size_bytes, kernel.name_id
  FROM torch_collective AS said
  CROSS JOIN kernel
  WHERE kernel.kernel_id = said.kernel_id
    AND said.operation IS NOT NULL
),
communication AS MATERIALIZED (
  SELECT name_id, kernel_name, collective(kernel_name) AS collective
  FROM named
  WHERE collective(kernel_name) IS NOT NULL
    OR name_id IN (SELECT name_id FROM recorded)
)
SELECT
  coalesce(recorded.operation, communication.collective) AS collective,
  count(*) AS calls,
  sum(kernel.dur_ns) AS total_ns,
  100.0 * sum(kernel.dur_ns) / nullif(total.all_ns, 0) AS time_pct,
  avg(kernel.dur_ns) AS mean_ns,
  median(kernel.dur_ns) AS median_ns,
  min(kernel.dur_ns) AS min_ns,
  max(kernel.dur_ns) AS max_ns,
  sum(recorded.size_bytes) AS size_bytes,
  communication.kernel_name
FROM kernel
CROSS JOIN communication
LEFT JOIN recorded
  ON recorded.kernel_id = kernel.kernel_id
CROSS JOIN total
WHERE communication.name_id = kernel.name_id
  AND (communication.collective IS NOT NULL OR recorded.operation IS NOT NULL)
GROUP BY communication.name_id, coalesce(recorded.operation, communication.collective)
ORDER BY total_ns DESC, calls DESC, collective, communication.kernel_name, communication.name_id
