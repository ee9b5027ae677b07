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
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
by_name AS (
  SELECT
    name_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns
  FROM kernel
  GROUP BY name_id
),
named AS (
  SELECT
    *,
    100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
    (SELECT text FROM string WHERE string_id = name_id) AS kernel_name
  FROM by_name
)
SELECT
  collective(kernel_name) AS collective,
  calls,
  total_ns,
  time_pct,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  kernel_name
FROM named
WHERE collective(kernel_name) IS NOT NULL
ORDER BY total_ns DESC, calls DESC, collective, kernel_name, name_id
