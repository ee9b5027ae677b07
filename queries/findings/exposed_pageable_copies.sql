/*---
name: exposed_pageable_copies
version: 1
title: Exposed copies of pageable memory
summary: Time in which copies from or to pageable memory ran, and no kernel did.
why: To see what pinned memory and overlap could save.
kind: finding
tags: [cuda, gpu, memory]
reads: [exposed_copy]
requires: [exposed_part, memcpy]
finding:
  claim: "Exposed pageable copies: the GPU copies to or from pageable host memory while no kernel runs."
  ceiling: Time in which these copies ran and no kernel did. The time of the host in the copy call does not count.
  remedy: >-
    Keep the data on the GPU between calls, or leave small work to the CPU. Else use pinned memory (cudaMallocHost) and
    cudaMemcpyAsync on another stream while kernels run.
  in_pytorch: >-
    DataLoader(pin_memory=True) or tensor.pin_memory(), and non_blocking=True.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#pinned-memory
  confidence: high
  edit: "overlap=memcpy@\nidle=@\nfaster=memcpy@:PINNED"
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
  Pinned memory shortens a copy; whether other work can hide it depends on the program.
see_also: [exposed_copies, memory_ops, memcpy_bandwidth, cuda_memcpy_async]
---*/
SELECT gpu_id, start_ns, dur_ns, direction AS subject, size_bytes, op_id
FROM exposed_copy
WHERE is_pageable
  AND dur_ns >= :least
ORDER BY gpu_id, start_ns, op_id
