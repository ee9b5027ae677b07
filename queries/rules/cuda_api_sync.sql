/*---
name: cuda_api_sync
version: 1
title: Synchronising CUDA calls
summary: Calls that block the host until a device or stream is done, longest first.
why: To find waits of the CPU that an event or an asynchronous call could spare.
kind: rule
tags: [api, cuda, rule, sync]
reads: [cuda_call]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Rows to return; -1 returns all."}
  - {name: process, type: int, doc: "Only calls of this process id; all by default."}
  - {name: thread, type: int, doc: "Only calls of this thread id; all by default."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Call began, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time until the call returned."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: api_name, type: text, doc: "Name of the function without its ABI version."}
  - {name: api_symbol, type: text, doc: "Name as recorded, such as cudaDeviceSynchronize_v3020."}
checks:
  - dur_ns >= 0
  - api_name GLOB 'cuda*Synchronize*'
limits: >-
  Looks at cudaDeviceSynchronize and cudaStreamSynchronize alone, as NVIDIA's rule does: not at cudaEventSynchronize,
  at the driver API or at calls such as cudaMemcpy that wait as a side effect. A long wait is no fault where the program
  has nothing else to do.
see_also: [cuda_memcpy_sync, cuda_memcpy_async, cuda_memset_sync, cuda_api_sum]
nsys:
  title: CUDA Synchronization APIs
  aliases: [cuda-sync-api]
  args:
    - {name: rows, param: limit}
    - {name: process, param: process}
    - {name: thread, param: thread}
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
  (api_symbol GLOB 'cudaDeviceSynchronize*' OR api_symbol GLOB 'cudaStreamSynchronize*')
  AND (:process IS NULL OR pid = :process)
  AND (:thread IS NULL OR tid = :thread)
ORDER BY dur_ns DESC, start_ns, call_id
LIMIT :limit
