/*---
name: cuda_memcpy_async
version: 1
title: Asynchronous copies of pageable memory
summary: Asynchronous copies from or to pageable memory, longest first.
why: Copies of pageable memory do not run asynchronously; pinned memory would let them.
kind: rule
tags: [cuda, memory, rule]
reads: [memcpy, launch, all_cuda_call]
requires: [memcpy, cuda_call]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Rows to return; -1 returns all."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Copy began on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time the copy took on the GPU."}
  - {name: call_dur_ns, type: duration, unit: ns, doc: "Time the call took on the host."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied."}
  - {name: direction, type: text, doc: "Direction in words, such as Host-to-Device."}
  - {name: src_memory, type: text, doc: "Kind of the memory read, such as Pinned; null if unknown."}
  - {name: dst_memory, type: text, doc: "Kind of the memory written, such as Device; null if unknown."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's id of the calling thread."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number that the call and its operations share, unique within a process at best."}
  - {name: api_name, type: text, doc: "Name of the function without its ABI version."}
  - {name: api_symbol, type: text, doc: "Name as recorded, with its ABI version."}
checks:
  - dur_ns >= 0 AND call_dur_ns >= 0
  - src_memory = 'Pageable' OR dst_memory = 'Pageable'
limits: >-
  Looks at the runtime API alone, as NVIDIA's rule does, and at copies whose call was recorded. The call is looked for
  in the copy's own process; NVIDIA's rule also takes calls of other processes that carry the same number, and so repeats
  copies.
see_also: [cuda_memcpy_sync, cuda_memset_sync, cuda_api_sync, cuda_gpu_mem_time_sum]
nsys:
  title: CUDA Async Memcpy with Pageable Memory
  aliases: [cuda-async-memcpy]
  args:
    - {name: rows, param: limit}
  columns:
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: Src Kind, sql: src_memory}
    - {name: Dst Kind, sql: dst_memory}
    - {name: Bytes, unit: mb, sql: size_bytes}
    - {name: PID, sql: pid}
    - {name: Device ID, sql: device_id}
    - {name: Context ID, sql: context_id}
    - {name: Green Context ID, sql: green_context_id}
    - {name: Stream ID, sql: stream_id}
    - {name: API Name, sql: api_symbol}
---*/
SELECT
  memcpy.start_ns,
  memcpy.dur_ns,
  call.dur_ns AS call_dur_ns,
  memcpy.size_bytes,
  memcpy.direction,
  memcpy.src_memory,
  memcpy.dst_memory,
  memcpy.pid,
  call.tid,
  memcpy.device_id,
  memcpy.context_id,
  memcpy.green_context_id,
  memcpy.stream_id,
  memcpy.correlation_id,
  call.api_name,
  call.api_symbol
FROM memcpy
JOIN launch ON launch.op_kind = 'memcpy' AND launch.op_id = memcpy.memcpy_id
JOIN all_cuda_call AS call ON call.call_id = launch.call_id
WHERE
  call.api_symbol GLOB 'cudaMemcpy*Async*'
  AND (memcpy.src_memory = 'Pageable' OR memcpy.dst_memory = 'Pageable')
ORDER BY memcpy.dur_ns DESC, memcpy.start_ns, memcpy.memcpy_id
LIMIT :limit
