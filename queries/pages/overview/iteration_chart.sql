/*---
name: iteration_chart
version: 1
title: Iterations in order
summary: Mean and longest time of each group of neighbouring iterations of a GPU.
why: To draw iteration times as bars, however many there are.
kind: sum
tags: [cuda, gpu, nvtx]
internal: true
reads: []
asks: [steps]
params:
  - {name: groups, type: int, default: 240, min: 1, doc: "Most groups per GPU and thread. With as many iterations or fewer, each is a group of its own."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: group_id, type: id, label: "group", priority: 0, doc: "Number of the group, from 0."}
  - {name: first_iteration, type: int, priority: 1, doc: "Number of its first iteration."}
  - {name: last_iteration, type: int, priority: 1, doc: "Number of its last iteration."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean time of its iterations."}
  - {name: max_ns, type: duration, unit: ns, priority: 1, doc: "Time of its slowest iteration."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Mean time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "Mean time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", doc: "Mean time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Mean time in which nothing ran: the rest of mean_ns."}
  - {name: part, type: text, priority: 2, doc: "warm-up or tail if all its iterations are; median if it has the median iteration; else steady."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system ID of the thread."}
checks:
  - first_iteration <= last_iteration AND mean_ns <= max_ns
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = mean_ns
when_empty: no NVTX range looks like an iteration, and no sequence of launches repeats; range_names lists the names
limits: >-
  See steps; threads with one have no row. A mean is cut to whole ns.
see_also: [steps, iteration_sum]
---*/
WITH
numbered AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY gpu_id, pid, tid ORDER BY step) - 1 AS place,
    count(*) OVER (PARTITION BY gpu_id, pid, tid) AS iterations
  FROM steps
  WHERE step_count > 1
),
grouped AS (
  SELECT
    gpu_id,
    pid,
    tid,
    iif(iterations <= :groups, place, place * :groups / iterations) AS group_id,
    min(step) AS first_iteration,
    max(step) AS last_iteration,
    sum(dur_ns) / count(*) AS mean_ns,
    max(dur_ns) AS max_ns,
    sum(compute_ns) / count(*) AS compute_ns,
    sum(exposed_communication_ns) / count(*) AS exposed_communication_ns,
    sum(exposed_memory_ns) / count(*) AS exposed_memory_ns,
    CASE
      WHEN max(part = 'median') THEN 'median'
      WHEN min(part = 'warm-up') THEN 'warm-up'
      WHEN min(part = 'tail') THEN 'tail'
      ELSE 'steady'
    END AS part
  FROM numbered
  GROUP BY gpu_id, pid, tid, group_id
)
SELECT
  gpu_id,
  group_id,
  first_iteration,
  last_iteration,
  mean_ns,
  max_ns,
  compute_ns,
  exposed_communication_ns,
  exposed_memory_ns,
  mean_ns - compute_ns - exposed_communication_ns - exposed_memory_ns AS idle_ns,
  part,
  pid,
  tid
FROM grouped
ORDER BY gpu_id, pid, tid, group_id
