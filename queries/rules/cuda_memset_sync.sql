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
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the fill on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Duration of the fill on the GPU."}
  - {name: call_dur_ns, type: duration, unit: ns, label: "call time", priority: 1, doc: "Duration of the API call on the host."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 1, doc: "Bytes written."}
  - {name: memory, type: text, priority: 0, doc: "Kind of memory written: Pinned or Managed."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system ID of the calling thread."}
  - {name: device_id, type: id, label: "CUDA device", priority: 1, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context."}
  - {name: green_context_id, type: id, label: "green context", priority: 3, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, label: "stream", doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 3, doc: "Correlation ID, shared by the call and its operations; at best unique within a process."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, with its ABI version."}
checks:
  - dur_ns >= 0 AND call_dur_ns >= 0
  - memory IN ('Pinned', 'Managed')
when_empty: "no synchronous fill writes pinned or managed memory: nothing to fix here"
limits: >-
  The query covers only the runtime API, as NVIDIA's rule does, and only fills whose call was recorded. It looks for the
  call in the fill's own process. NVIDIA's rule also takes calls of other processes with the same correlation ID.
see_also: [cuda_memcpy_sync, cuda_memcpy_async, cuda_api_sync, cuda_gpu_mem_time_sum]
nsys:
  title: CUDA Synchronous Memset
  aliases: [cuda-sync-memset]
  args:
    - {name: rows, param: limit}
  lacks:
    - {without: cuda_call, says: "CUDA data. Does the application use CUDA runtime APIs?"}
    - {says: "CUDA data. Does the application use CUDA memset APIs?"}
  advice: >-
    Each of these calls keeps its thread waiting until the memory is filled, because the memory is pinned or
    managed. Use cudaMemsetAsync.
  all_clear: >-
    There were no problems detected related to synchronous memset operations.
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
-- CROSS JOIN keeps the order of the tables: most reports have few of these fills, and only their launches matter.
FROM memset
CROSS JOIN launch
CROSS JOIN all_cuda_call AS call
WHERE
  launch.op_kind = 'memset'
  AND launch.op_id = memset.memset_id
  AND call.call_id = launch.call_id
  AND call.api_symbol GLOB 'cudaMemset*'
  AND NOT call.api_symbol GLOB '*Async*'
  AND memset.memory IN ('Pinned', 'Managed')
ORDER BY memset.dur_ns DESC, memset.start_ns, memset.memset_id
LIMIT :limit
