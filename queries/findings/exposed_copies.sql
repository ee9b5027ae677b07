/*---
name: exposed_copies
version: 1
title: Exposed copies
summary: Time in which copies between host and device ran, and no kernel did.
why: To see what overlap or fewer copies could save.
kind: finding
tags: [cuda, gpu, memory]
reads: [exposed_copy]
requires: [exposed_part, memcpy]
finding:
  claim: "Exposed copies: the GPU copies to or from the host while no kernel runs."
  ceiling: Time in which a copy between host and device ran and no kernel did. Copies of pageable memory do not count here.
  remedy: >-
    Keep the data on the GPU, copy less, or copy the next batch on another stream while kernels run.
  in_pytorch: >-
    pinned memory and non_blocking=True in a torch.cuda.stream() of its own.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation
  confidence: high
  edit: overlap=memcpy@
  avoid: without=memcpy@
  frees: copies
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "direction", priority: 0, doc: "Direction of the copy."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  Removing all these copies saves their whole time. Overlap alone saves no more than the kernels take.
see_also: [exposed_pageable_copies, memory_ops, memcpy_bandwidth]
---*/
SELECT gpu_id, start_ns, dur_ns, direction AS subject, size_bytes, op_id
FROM exposed_copy
WHERE NOT is_on_device
  AND NOT is_between_gpus
  AND NOT is_pageable
  AND NOT is_migration
  AND dur_ns >= :least
ORDER BY gpu_id, start_ns, op_id
