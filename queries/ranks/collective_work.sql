/*---
name: collective_work
version: 1
title: Work before each collective
summary: What the GPU did before each collective, since the collectives before it ended.
why: To see why a rank comes late to a collective.
kind: trace
tags: [communication, gpu]
reads: [collective_op, gpu_window, step_window]
requires: [gpu_window]
columns:
  - {name: kernel_id, type: id, priority: 2, doc: "Kernel of the collective: row ID in the raw table."}
  - {name: communicator, type: text, priority: 2, doc: "Communicator of the collective."}
  - {name: sequence, type: int, priority: 0, doc: "Place among the collectives of the communicator on this GPU."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another; SendRecv, as in collective_op."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that ran the kernel."}
  - {name: iteration, type: int, priority: 1, doc: "Iteration in whose time on the GPU the kernel starts; null if in none."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "End of the collectives before, on the report's clock; start of the kernel if one still runs, or if it is the first."}
  - {name: dur_ns, type: duration, unit: ns, label: "since the collectives before", priority: 1, doc: "From there to the start of the kernel: the sum of the next four columns."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 1, doc: "Time in which a communication kernel that is no collective ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Time in which nothing ran: the GPU waited for the host."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = dur_ns
when_empty: "no collective was recorded"
limits: >-
  The collectives before are those of all communicators on this GPU; kernels of sends and receives (SendRecv) count only
  before their like. Only collectives that ran a kernel in the capture.
see_also: [collectives, straggler_causes, gpu_time]
---*/
WITH
op AS MATERIALIZED (
  SELECT
    kernel_id,
    communicator,
    sequence,
    operation,
    gpu_id,
    start_ns,
    -- Kernels of sends and receives may be those of pairs: only their like begin where they end.
    max(iif(operation <> 'SendRecv', end_ns, NULL)) OVER before AS collective_end_ns,
    iif(operation = 'SendRecv', max(end_ns) OVER before, NULL) AS exchange_end_ns
  FROM collective_op
  WHERE kernel_id IS NOT NULL
  WINDOW before AS (
    PARTITION BY gpu_id
    ORDER BY start_ns, kernel_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
iteration AS MATERIALIZED (
  SELECT gpu_id, min(step) AS iteration, start_ns, min(end_ns) AS end_ns
  FROM step_window
  WHERE EXISTS (SELECT 1 FROM op)
  GROUP BY gpu_id, start_ns
),
placed AS MATERIALIZED (
  SELECT
    *,
    min(coalesce(exchange_end_ns, collective_end_ns, start_ns), start_ns) AS from_ns,
    (
      SELECT iif(op.start_ns < iteration.end_ns, iteration.iteration, NULL)
      FROM iteration
      WHERE iteration.gpu_id = op.gpu_id
        AND iteration.start_ns <= op.start_ns
      ORDER BY iteration.start_ns DESC
      LIMIT 1
    ) AS iteration
  FROM op
)
SELECT
  placed.kernel_id,
  placed.communicator,
  placed.sequence,
  placed.operation,
  placed.gpu_id,
  placed.iteration,
  placed.from_ns AS start_ns,
  placed.start_ns - placed.from_ns AS dur_ns,
  coalesce(gpu.compute_ns, 0) AS compute_ns,
  coalesce(gpu.exposed_communication_ns, 0) AS exposed_communication_ns,
  coalesce(gpu.exposed_memory_ns, 0) AS exposed_memory_ns,
  coalesce(gpu.idle_ns, 0) AS idle_ns
FROM placed
LEFT JOIN gpu_window AS gpu
  ON gpu.start_ns = placed.from_ns
  AND gpu.end_ns = placed.start_ns
  AND gpu.gpu_id = placed.gpu_id
ORDER BY placed.gpu_id, placed.start_ns, placed.kernel_id, placed.communicator, placed.sequence
