/*---
name: cuda_memset_sync
version: 1
title: Synchronous fills of host memory
summary: Fills of pinned or managed memory that block the host, longest first.
why: To find fills that keep the CPU waiting and that an asynchronous fill could hide.
kind: rule
tags: [cuda, memory, rule, sync]
reads: [memset, launch, all_cuda_call]
requires: [memset, cuda_call]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Rows to return; -1 returns all."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Fill began on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time the fill took on the GPU."}
  - {name: call_dur_ns, type: duration, unit: ns, doc: "Time the call took on the host."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes written."}
  - {name: memory, type: text, doc: "Kind of the memory written: Pinned or Managed."}
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
  - memory IN ('Pinned', 'Managed')
limits: >-
  Looks at the runtime API alone, as NVIDIA's rule does, and at fills whose call was recorded. The call is looked for in
  the fill's own process; NVIDIA's rule also takes calls of other processes that carry the same number.
see_also: [cuda_memcpy_sync, cuda_memcpy_async, cuda_api_sync, cuda_gpu_mem_time_sum]
nsys:
  title: CUDA Synchronous Memset
  aliases: [cuda-sync-memset]
  args:
    - {name: rows, param: limit}
  columns:
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: Memory Kind, sql: memory}
    - {name: Bytes, unit: mb, sql: size_bytes}
    - {name: PID, sql: pid}
    - {name: Device ID, sql: device_id}
    - {name: Context ID, sql: context_id}
    - {name: Green Context ID, sql: green_context_id}
    - {name: Stream ID, sql: stream_id}
    - {name: API Name, sql: api_symbol}
---*/
SELECT
  memset.start_ns,
  memset.dur_ns,
  call.dur_ns AS call_dur_ns,
  memset.size_bytes,
  memset.memory,
  memset.pid,
  call.tid,
  memset.device_id,
  memset.context_id,
  memset.green_context_id,
  memset.stream_id,
  memset.correlation_id,
  call.api_name,
  call.api_symbol
FROM memset
JOIN launch ON launch.op_kind = 'memset' AND launch.op_id = memset.memset_id
JOIN all_cuda_call AS call ON call.call_id = launch.call_id
WHERE
  call.api_symbol GLOB 'cudaMemset*'
  AND NOT call.api_symbol GLOB '*Async*'
  AND memset.memory IN ('Pinned', 'Managed')
ORDER BY memset.dur_ns DESC, memset.start_ns, memset.memset_id
LIMIT :limit
