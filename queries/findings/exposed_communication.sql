/*---
name: exposed_communication
version: 1
title: Exposed communication
summary: Time in which collectives ran, and kept the next compute kernel waiting.
why: To see how much of a training step waits for communication.
kind: finding
tags: [communication, gpu]
reads: [exposed_part, gpu_busy, torch_collective]
requires: [exposed_part]
finding:
  claim: "Exposed communication: collectives run while no compute kernel runs."
  ceiling: Time in which a communication kernel ran and no compute kernel did, without the time in which the next one had not been launched. Waiting for a late rank inside a collective counts too.
  remedy: >-
    Overlap communication with compute, send fewer bytes, or balance ranks that wait for each other.
  in_pytorch: >-
    DDP bucket_cap_mb, no_sync() in all but the last of the micro-batches of a step, FSDP prefetching, async_op=True with
    a later wait(), or gradients in BF16.
  link: https://pytorch.org/docs/stable/notes/ddp.html
  confidence: high
  edit: overlap=communication
  avoid: without=communication@
  frees: communication
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "collective", priority: 0, doc: "The collective, such as AllReduce; the kernel name if it is none."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  A collective waits inside its kernel for the slowest rank, so part of this time may be due to other ranks. If several collectives
  run at once, the time has the name of the one that started last.
see_also: [comm_overlap, nccl_sum, gpu_time]
---*/
WITH
recorded AS MATERIALIZED (
  SELECT kernel_id, operation
  FROM torch_collective
),
-- No compute follows the last collectives. They are like the others.
compute AS MATERIALIZED (
  SELECT gpu_id, max(end_ns) AS end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'compute'
  GROUP BY gpu_id
),
usual AS MATERIALIZED (
  SELECT part.gpu_id, part.name_id, 1.0 * sum(part.late_ns) / sum(part.dur_ns) AS late_share
  FROM exposed_part AS part
  JOIN compute
    ON compute.gpu_id = part.gpu_id
    AND part.start_ns < compute.end_ns
  WHERE part.activity = 'communication'
  GROUP BY part.gpu_id, part.name_id
),
part AS (
  SELECT
    exposed_part.gpu_id,
    exposed_part.start_ns,
    exposed_part.dur_ns,
    exposed_part.op_id,
    exposed_part.op_name,
    iif(
      exposed_part.start_ns >= compute.end_ns,
      max(
        exposed_part.late_ns,
        CAST(
          coalesce(
            (
              SELECT late_share
              FROM usual
              WHERE usual.gpu_id = exposed_part.gpu_id
                AND usual.name_id = exposed_part.name_id
            ),
            0
          ) * exposed_part.dur_ns AS INTEGER
        )
      ),
      exposed_part.late_ns
    ) AS late_ns
  FROM exposed_part
  LEFT JOIN compute
    ON compute.gpu_id = exposed_part.gpu_id
  WHERE exposed_part.activity = 'communication'
    AND exposed_part.dur_ns - exposed_part.late_ns >= :least
)
SELECT
  part.gpu_id,
  part.start_ns + part.late_ns AS start_ns,
  part.dur_ns - part.late_ns AS dur_ns,
  coalesce(recorded.operation, nullif(collective(part.op_name), 'Generic'), part.op_name) AS subject,
  part.op_id
FROM part
LEFT JOIN recorded
  ON recorded.kernel_id = part.op_id
WHERE part.dur_ns - part.late_ns >= :least
ORDER BY part.gpu_id, part.start_ns, part.op_id
