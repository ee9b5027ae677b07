/*---
name: cuda_api_trace
version: 1
title: CUDA API trace
summary: Every CUDA API call, in order of time.
why: To follow what a thread asked of CUDA, call by call.
kind: trace
tags: [api, cuda]
reads: [cuda_call, thread]
requires: [cuda_call]
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Call began, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "How long the call took."}
  - {name: return_value, type: int, doc: "What the call returned; 0 is success."}
  - {name: correlation_id, type: id, doc: "Number that the operations it launched carry, unique within a process at best."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: thread_priority, type: int, doc: "Whose name it is: 0 NVTX's, 10 the profiler's, 20 the kernel's; null without one."}
  - {name: thread_name, type: text, doc: "Name of the thread; null without one."}
  - {name: api_kind, type: text, doc: "runtime or driver; class N for a number nobody knows."}
  - {name: api_name, type: text, doc: "Name of the function without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, doc: "Name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - dur_ns >= 0
limits: >-
  A runtime call and the driver call inside it are two rows. Where a thread has several names, NVIDIA's report prints
  its calls once for each; here they are printed once, with the name of the lowest priority.
see_also: [cuda_api_sum, cuda_kern_exec_trace, api_errors]
nsys:
  title: CUDA API Trace
  aliases: [cudaapitrace]
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - name: Name
      sql: >-
        CASE WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
    - {name: Result, sql: return_value}
    - {name: CorrID, sql: correlation_id}
    - {name: Pid, sql: pid}
    - {name: Tid, sql: tid}
    - {name: T-Pri, sql: thread_priority}
    - {name: Thread Name, sql: thread_name}
---*/
SELECT
  call.start_ns,
  call.dur_ns,
  call.return_value,
  call.correlation_id,
  call.pid,
  call.tid,
  thread.priority AS thread_priority,
  thread.thread_name,
  call.api_kind,
  call.api_name,
  call.api_symbol
FROM cuda_call AS call
LEFT JOIN thread
  ON thread.global_tid = call.global_tid
ORDER BY call.start_ns, call.end_ns DESC, call.call_id
