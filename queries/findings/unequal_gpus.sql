/*---
name: unequal_gpus
version: 1
title: GPUs of a process with unequal work
summary: Time of kernels that a GPU could pass on to others of its process that idle.
why: To see what a fixed split of the work over GPUs costs, where no collective shows it.
kind: finding
tags: [gpu]
reads: [gpu_overlap, gpu_window, idle_part]
requires: [idle_part]
rows_if: (SELECT count(*) FROM gpu_window WHERE compute_ns > 0) > 1
finding:
  claim: "Unequal work: one GPU of a process still works while others idle and the host waits for it."
  ceiling: Kernels that run while other GPUs of the process idle and the launching thread waits, up to what this GPU works longer than the mean.
  remedy: >-
    Share the work equally, or cut it into more parts, of which each GPU takes the next when it is free.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/
  confidence: medium
  frees: kernels
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest idle interval of another GPU to count."}
  - {name: at_least_pct, type: real, default: 10, min: 0, doc: "How much more than the mean a GPU must work, in percent."}
  - {name: same_pct, type: real, default: 80, min: 0, max: 100, doc: "Smallest share of its kernels' time, in percent, in kernels that all these GPUs run."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that works longer: its number on its machine."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Part of the kernel that others could run."}
  - {name: subject, type: text, label: "share of work", priority: 0, doc: "The GPU, and its share of the kernels' time of its process: GPU 0 with 70 % of the work."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: work_pct, type: percent, unit: percent, label: "% of the process's work", priority: 1, doc: "The GPU's share of the time in which the GPUs of the process compute."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
checks:
  - dur_ns > 0
when_empty: "no process leaves a GPU idle while another one of its own has more of the same work"
limits: >-
  Only GPUs of one process, in which one thread waits: ranks that wait for each other in collectives or MPI are in
  rank_wait and mpi_wait. Work may not be divisible, and GPUs of unequal speed need unequal parts.
see_also: [rank_wait, mpi_wait, gpu_time]
---*/
WITH
waiting AS MATERIALIZED (
  SELECT part_id, gpu_id, pid, start_ns, end_ns
  FROM idle_part
  WHERE part = 'host sync'
    AND dur_ns >= :least
    AND pid IS NOT NULL
),
op AS MATERIALIZED (
  SELECT op_id, gpu_id, pid, name_id, start_ns, end_ns
  FROM gpu_overlap
  WHERE op_kind = 'kernel'
    AND activity = 'compute'
    AND pid IN (SELECT pid FROM waiting)
),
work AS MATERIALIZED (
  SELECT
    *,
    avg(busy_ns) OVER (PARTITION BY pid) AS mean_ns,
    min(busy_ns) OVER (PARTITION BY pid) AS least_ns,
    sum(busy_ns) OVER (PARTITION BY pid) AS all_ns,
    count(*) OVER (PARTITION BY pid) AS gpus
  FROM (SELECT pid, gpu_id, busy_ns(start_ns, end_ns) AS busy_ns FROM op GROUP BY pid, gpu_id)
),
named AS MATERIALIZED (
  SELECT pid, gpu_id, name_id, sum(end_ns - start_ns) AS total_ns
  FROM op
  GROUP BY pid, gpu_id, name_id
),
same AS (
  SELECT pid, name_id, count(*) AS gpus
  FROM named
  GROUP BY pid, name_id
),
-- GPUs that work longer, and run what the others run: parts of a model on each GPU cannot be passed on.
longer AS MATERIALIZED (
  SELECT work.pid, work.gpu_id, work.busy_ns, work.mean_ns, work.all_ns, work.gpus
  FROM work
  JOIN named
    ON named.pid = work.pid
    AND named.gpu_id = work.gpu_id
  JOIN same
    ON same.pid = named.pid
    AND same.name_id = named.name_id
  WHERE work.gpus > 1
    AND 100.0 * (work.busy_ns - work.mean_ns) >= :at_least_pct * work.mean_ns
    AND 10 * work.least_ns >= work.busy_ns
  GROUP BY work.pid, work.gpu_id, work.busy_ns, work.mean_ns, work.all_ns, work.gpus
  HAVING 100.0 * sum(iif(same.gpus = work.gpus, named.total_ns, 0)) >= :same_pct * sum(named.total_ns)
),
kernel_part AS MATERIALIZED (
  SELECT op.op_id, op.pid, op.gpu_id, op.start_ns, sum(part.end_ns - part.start_ns) AS waited_ns
  FROM split_spans(
    (
      SELECT time_spans(op.pid, op.op_id, op.start_ns, op.end_ns)
      FROM op
      JOIN longer
        ON longer.pid = op.pid
        AND longer.gpu_id = op.gpu_id
    ),
    (SELECT time_spans(pid, part_id, start_ns, end_ns) FROM waiting)
  ) AS part
  JOIN op
    ON op.op_id = part.span_id
  JOIN waiting
    ON waiting.part_id = part.by_id
  WHERE waiting.gpu_id <> op.gpu_id
  GROUP BY op.op_id, op.pid, op.gpu_id, op.start_ns
),
freed AS (
  SELECT
    part.gpu_id,
    part.start_ns,
    CAST(
      1.0 * part.waited_ns / longer.gpus
        * min(
          1,
          (longer.busy_ns - longer.mean_ns)
            / (sum(1.0 * part.waited_ns / longer.gpus) OVER (PARTITION BY part.pid, part.gpu_id))
        ) AS INTEGER
    ) AS dur_ns,
    part.pid,
    100.0 * longer.busy_ns / longer.all_ns AS work_pct,
    part.op_id AS kernel_id
  FROM kernel_part AS part
  JOIN longer
    ON longer.pid = part.pid
    AND longer.gpu_id = part.gpu_id
)
SELECT
  gpu_id,
  start_ns,
  dur_ns,
  printf('GPU %d with %.0f %% of the work', gpu_id, work_pct) AS subject,
  pid,
  work_pct,
  kernel_id
FROM freed
WHERE dur_ns > 0
ORDER BY gpu_id, start_ns, kernel_id
