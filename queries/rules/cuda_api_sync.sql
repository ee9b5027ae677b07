/*---
name: cuda_api_sync
version: 1
title: Synchronising CUDA calls
summary: Calls that block the host until a device or stream is done, longest first.
why: To find waits of the CPU that an event or an asynchronous call could avoid.
kind: rule
tags: [api, cuda, rule, sync]
reads: [cuda_call, string]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: process, type: int, doc: "Only calls of this process ID. Default: all processes."}
  - {name: thread, type: int, doc: "Only calls of this thread ID. Default: all threads."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the call, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the call."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 0, doc: "Operating system thread ID."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, such as cudaDeviceSynchronize_v3020."}
checks:
  - dur_ns >= 0
  - api_name GLOB 'cuda*Synchronize*'
when_empty: "no call is cudaDeviceSynchronize or cudaStreamSynchronize: nothing to fix here"
limits: >-
  The query covers only cudaDeviceSynchronize and cudaStreamSynchronize, as NVIDIA's rule does. It leaves out
  cudaEventSynchronize, the driver API, and calls such as cudaMemcpy that wait as a side effect. A long wait is fine if
  the program has nothing else to do.
see_also: [cuda_memcpy_sync, cuda_memcpy_async, cuda_memset_sync, cuda_api_sum]
nsys:
  title: CUDA Synchronization APIs
  aliases: [cuda-sync-api]
  args:
    - {name: rows, param: limit}
    - {name: process, param: process}
    - {name: thread, param: thread}
  lacks:
    - {says: "CUDA data. Does the application use CUDA runtime APIs?"}
  advice: >-
    In each of these calls a thread waits until its CUDA work is done, and launches nothing meanwhile. Remove waits
    that no result needs; order streams by events (cudaStreamWaitEvent) instead.
  all_clear: >-
    There were no problems detected related to synchronization APIs.
  columns:
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: PID, sql: pid}
    - {name: TID, sql: tid}
    - {name: API Name, sql: api_symbol}
---*/
SELECT
  start_ns,
  dur_ns,
  pid,
  tid,
  api_name,
  api_symbol
FROM cuda_call
WHERE
  name_id IN (
    SELECT string_id
    FROM string
    WHERE text GLOB 'cudaDeviceSynchronize*'
      OR text GLOB 'cudaStreamSynchronize*'
  )
  AND (:process IS NULL OR pid = :process)
  AND (:thread IS NULL OR tid = :thread)
ORDER BY dur_ns DESC, start_ns, call_id
LIMIT :limit
