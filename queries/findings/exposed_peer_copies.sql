/*---
name: exposed_peer_copies
version: 1
title: Exposed copies between GPUs
summary: Time in which copies from one GPU to another ran alone.
why: To see what copies between GPUs cost where no kernel hides them.
kind: finding
tags: [cuda, gpu, memory]
reads: [exposed_copy]
requires: [exposed_part]
finding:
  claim: "Exposed peer copies: the GPU copies to or from another GPU while no kernel runs."
  ceiling: Time in which these copies ran on the GPU and no kernel did.
  remedy: >-
    Copy on another stream while kernels run (cudaMemcpyPeerAsync), and over NVLink: `nvidia-smi topo -m` shows the links.
  link: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#peer-to-peer-memory-access
  confidence: medium
  edit: overlap=memcpy@
  avoid: without=memcpy@
  frees: copies
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "copy", priority: 0, doc: "Direction of the copy."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes of the whole copy."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
limits: >-
  Copies that kernels do, as those of NCCL, are kernels and do not count. Each copy counts on the GPU that recorded it.
see_also: [memcpy_bandwidth, device_copies, exposed_copies]
---*/
SELECT gpu_id, start_ns, dur_ns, direction AS subject, size_bytes, op_id
FROM exposed_copy
WHERE is_between_gpus
  AND dur_ns >= :least
ORDER BY gpu_id, start_ns, op_id
