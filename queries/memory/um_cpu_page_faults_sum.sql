/*---
name: um_cpu_page_faults_sum
version: 1
title: Unified memory CPU page faults
summary: CPU page faults on unified memory per host function, most faults first.
why: To find the host code that pulls unified memory back from the GPU.
kind: sum
tags: [cuda, memory, unified-memory]
reads: [um_cpu_page_fault]
columns:
  - {name: faults_pct, type: percent, unit: percent, label: "share of CPU faults", priority: 1, doc: "cpu_faults as a share of the sum over all rows."}
  - {name: cpu_faults, type: int, unit: count, label: "CPU faults", priority: 1, doc: "Number of CPU page faults."}
  - {name: pages, type: int, unit: count, priority: 1, doc: "Number of different faulting addresses, per process."}
  - {name: first_ns, type: timestamp, unit: ns, label: "first fault", doc: "Time of the first fault, on the report's clock."}
  - {name: last_ns, type: timestamp, unit: ns, label: "last fault", priority: 3, doc: "Time of the last fault, on the report's clock."}
  - {name: instruction, type: text, label: "function", priority: 0, doc: "Function that touched the page; null if it could not be resolved."}
checks:
  - cpu_faults >= pages AND pages >= 1
  - first_ns <= last_ns
when_empty: "no page of unified memory faulted on the CPU"
limits: >-
  Page faults are recorded only with --cuda-um-cpu-page-faults=true. Functions of one name in different libraries share
  a row.
see_also: [um_sum, um_total_sum]
nsys:
  title: Unified Memory CPU Page Faults Summary
  aliases: [umcpupagefaults]
  lacks:
    - {says: "CUDA Unified Memory CPU page faults data"}
  columns:
    - {name: CPU Page Faults, sql: cpu_faults}
    - {name: CPU Instruction Address, sql: instruction}
---*/
WITH
by_instruction AS (
  SELECT
    instruction,
    count(*) AS cpu_faults,
    count(DISTINCT pid || ' ' || address) AS pages,
    min(start_ns) AS first_ns,
    max(start_ns) AS last_ns
  FROM um_cpu_page_fault
  GROUP BY instruction
)
SELECT
  100.0 * cpu_faults / sum(cpu_faults) OVER () AS faults_pct,
  cpu_faults,
  pages,
  first_ns,
  last_ns,
  instruction
FROM by_instruction
ORDER BY cpu_faults DESC, instruction
