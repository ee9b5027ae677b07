/*---
name: exposed_communication
version: 1
title: Communication that nothing hides
summary: Time in which collectives ran on a GPU, and no compute kernel did.
why: To see how much of a training step waits for communication.
kind: finding
tags: [communication, gpu]
reads: [exposed_part]
requires: [exposed_part]
finding:
  claim: "Exposed communication: collectives run while no compute kernel runs."
  ceiling: Time in which a communication kernel ran and no compute kernel did. Waiting for a late rank inside a collective counts too.
  remedy: >-
    Overlap communication with compute (DDP bucket_cap_mb, FSDP prefetching, async_op=True with a later wait), send fewer bytes (gradient compression, bf16), or balance the ranks if they wait for each other.
  link: https://pytorch.org/docs/stable/notes/ddp.html
  confidence: high
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
SELECT
  gpu_id,
  start_ns + late_ns AS start_ns,
  dur_ns - late_ns AS dur_ns,
  coalesce(collective(op_name), op_name) AS subject,
  op_id
FROM exposed_part
WHERE activity = 'communication'
  AND dur_ns - late_ns >= :least
ORDER BY gpu_id, exposed_part.start_ns, op_id
