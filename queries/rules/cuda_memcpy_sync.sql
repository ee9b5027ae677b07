/*---
name: cuda_memcpy_sync
version: 1
title: Synchronous copies
summary: Copies that block the host, longest first.
why: To find copies that keep the CPU waiting and that an asynchronous copy could hide.
kind: rule
tags: [cuda, memory, rule, sync]
reads: [memcpy, launch, all_cuda_call, string]
requires: [memcpy, cuda_call]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the copy on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Duration of the copy on the GPU."}
  - {name: call_dur_ns, type: duration, unit: ns, label: "call time", priority: 1, doc: "Duration of the API call on the host."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 1, doc: "Bytes copied."}
  - {name: direction, type: text, priority: 0, doc: "Direction, such as Host-to-Device."}
  - {name: src_memory, type: text, label: "source memory", priority: 0, doc: "Kind of source memory, such as Pinned; null if unknown."}
  - {name: dst_memory, type: text, label: "destination memory", priority: 0, doc: "Kind of memory written, such as Device; null if unknown."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system ID of the calling thread."}
  - {name: device_id, type: id, label: "CUDA device", priority: 1, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context."}
  - {name: green_context_id, type: id, label: "green context", priority: 3, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, label: "stream", doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 3, doc: "Correlation ID, shared by the call and its operations; at best unique within a process."}
  - {name: api_name, type: text, label: "API function", doc: "Function name without its ABI version."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, with its ABI version."}
checks:
  - dur_ns >= 0 AND call_dur_ns >= 0
  - NOT api_name GLOB '*Async*'
when_empty: "no synchronous copy blocks the host: nothing to fix here"
limits: >-
  The query leaves out copies within one device, and copies of at most 64000 bytes from host to device, because they do
  not block. It covers only the runtime API, as NVIDIA's rule does, and only copies whose call was recorded. It looks
  for the call in the copy's own process. NVIDIA's rule also takes calls of other processes with the same correlation
  ID.
see_also: [cuda_memcpy_async, cuda_memset_sync, cuda_api_sync, cuda_gpu_mem_time_sum]
nsys:
  title: CUDA Synchronous Memcpy
  aliases: [cuda-sync-memcpy]
  args:
    - {name: rows, param: limit}
  lacks:
    - {without: cuda_call, says: "CUDA data. Does the application use CUDA runtime APIs?"}
    - {says: "CUDA data. Does the application use CUDA memcpy APIs?"}
  advice: >-
    Each of these calls keeps its thread waiting until the copy is done. Use cudaMemcpyAsync on a stream, with
    pinned memory, and wait only where the data is needed.
  all_clear: >-
    There were no problems detected related to synchronous memcpy operations.
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
WITH
-- Few programs call these functions. Launches are not looked for if no name is there.
name AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB 'cudaMemcpy*'
    AND NOT text GLOB '*Async*'
)
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
CROSS JOIN launch
CROSS JOIN all_cuda_call AS call
WHERE
  EXISTS (SELECT 1 FROM name)
  AND launch.op_kind = 'memcpy'
  AND launch.op_id = memcpy.memcpy_id
  AND launch.call_name_id IN (SELECT string_id FROM name)
  AND call.call_id = launch.call_id
  -- The driver buffers small copies to the device and returns at once.
  AND NOT (memcpy.direction = 'Host-to-Device' AND memcpy.size_bytes <= 64000)
  AND NOT coalesce(memcpy.src_device_id = memcpy.dst_device_id, 0)
ORDER BY memcpy.dur_ns DESC, memcpy.start_ns, memcpy.memcpy_id
LIMIT :limit
