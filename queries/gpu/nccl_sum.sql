/*---
name: nccl_sum
version: 1
title: Communication kernels
summary: GPU time per collective and kernel that carries it out.
why: To see which collectives cost time, by which algorithm and protocol, and how evenly.
kind: sum
tags: [communication, cuda, kernel]
reads: [kernel, string]
requires: [kernel]
columns:
  - {name: collective, type: text, doc: "AllReduce, AllGather, SendRecv, …; Generic for NCCL's kernel without a name of its own, unknown if not told."}
  - {name: calls, type: int, unit: count, doc: "Executions, one on each rank."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all kernels, other ones too."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: kernel_name, type: text, doc: "Demangled name of the kernel."}
checks:
  - calls >= 1
  - median_ns BETWEEN min_ns AND max_ns
  - time_pct BETWEEN 0 AND 100
limits: >-
  A communication kernel runs from its launch until all ranks have done their part, so its time includes waiting for the
  slowest. How many bytes moved is not in the report. Counts NCCL, RCCL and custom kernels by their names; what copies between
  GPUs without a kernel is in memcpy_bandwidth. Kernels of a CUDA graph that was traced as a whole are not in it.
see_also: [comm_overlap, class_sum, kernel_classes]
---*/
WITH
total AS (
  SELECT sum(dur_ns) AS all_ns
  FROM kernel
),
-- Numbers stand for names here: each name is looked up once.
named AS (
  SELECT name_id, (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM (SELECT DISTINCT name_id FROM kernel)
  LIMIT -1
),
communication AS (
  SELECT name_id, kernel_name, collective(kernel_name) AS collective
  FROM named
  WHERE collective(kernel_name) IS NOT NULL
  LIMIT -1
)
SELECT
  communication.collective,
  count(*) AS calls,
  sum(kernel.dur_ns) AS total_ns,
  100.0 * sum(kernel.dur_ns) / nullif(total.all_ns, 0) AS time_pct,
  avg(kernel.dur_ns) AS mean_ns,
  median(kernel.dur_ns) AS median_ns,
  min(kernel.dur_ns) AS min_ns,
  max(kernel.dur_ns) AS max_ns,
  communication.kernel_name
FROM kernel
JOIN communication
  ON communication.name_id = kernel.name_id
CROSS JOIN total
GROUP BY communication.name_id
ORDER BY total_ns DESC, calls DESC, communication.collective, communication.kernel_name, communication.name_id
