/*---
name: device_copies
version: 1
title: Exposed copies and fills inside the GPU
summary: Time in which copies within a GPU, or fills, ran alone.
why: To see what avoidable copies and fills cost.
kind: finding
tags: [cuda, gpu, memory]
reads: [exposed_copy]
requires: [exposed_part]
finding:
  claim: "Device copies: the GPU copies or fills its own memory while no kernel runs."
  ceiling: Time in which a copy within the memory of a GPU or a fill ran and no kernel did.
  remedy: >-
    Write into the final place, and do not fill memory that is overwritten.
  in_pytorch: >-
    avoid .contiguous(), .clone() and torch.cat; use empty for zeros.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  confidence: medium
  edit: without=@
  frees: copies
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "copy or fill", priority: 0, doc: "Direction of the copy, or memset."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  Copies that kernels do, such as elementwise copy kernels of PyTorch, are kernels and do not count.
see_also: [memory_ops, exposed_copies, exposed_peer_copies]
---*/
SELECT gpu_id, start_ns, dur_ns, direction AS subject, size_bytes, op_id
FROM exposed_copy
WHERE is_on_device
  AND dur_ns >= :least
ORDER BY gpu_id, start_ns, op_id
