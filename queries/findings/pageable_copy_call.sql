/*---
name: pageable_copy_call
version: 1
title: The GPU waits for copies from pageable memory
summary: Idle time of a GPU inside a copy call for pageable memory, before the copy.
why: To see what pinned memory would save besides the copies themselves.
kind: finding
tags: [cuda, gpu, memory]
reads: [idle_part, memcpy]
requires: [idle_part, memcpy]
finding:
  claim: "Staging: the GPU idles while the CPU stages a copy to or from pageable memory."
  ceiling: Idle time inside the copy call before the copy starts, less the time of a usual call. The copy itself does not count.
  remedy: >-
    Use pinned memory (cudaMallocHost) and cudaMemcpyAsync while the GPU computes.
  in_pytorch: >-
    DataLoader(pin_memory=True) or tensor.pin_memory(), and non_blocking=True.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest time in the call."}
  - {name: call, type: duration, default: 5us, min: 0, doc: "Time of a usual copy call. It is taken off the end."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call, without the time of a usual call."}
  - {name: subject, type: text, label: "copy", priority: 0, doc: "Direction of the copy."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", doc: "Bytes copied."}
  - {name: api_name, type: text, label: "call", doc: "CUDA function."}
limits: >-
  A long call can also come from other causes, such as the first use of the device or a lock. Imported PyTorch traces
  name the kind of memory too.
see_also: [cuda_memcpy_async, memcpy_bandwidth, gpu_idle_causes]
---*/
SELECT
  idle.gpu_id,
  idle.start_ns,
  idle.dur_ns - :call AS dur_ns,
  memcpy.direction AS subject,
  memcpy.size_bytes,
  idle.api_name
FROM idle_part AS idle
CROSS JOIN memcpy
WHERE idle.part = 'launch call'
  AND idle.after_kind = 'memcpy'
  AND idle.dur_ns >= :least
  AND idle.dur_ns > :call
  AND memcpy.memcpy_id = idle.after_id
  AND (memcpy.src_kind = 0 OR memcpy.dst_kind = 0)
ORDER BY idle.gpu_id, idle.start_ns, idle.after_id
