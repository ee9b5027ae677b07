/*---
name: cuda_api_trace
version: 1
title: CUDA API trace
summary: Every CUDA API call, sorted by start.
why: To follow the CUDA calls of a thread one by one.
kind: trace
tags: [api, cuda]
reads: [cuda_call, thread]
requires: [cuda_call]
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the call, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the call."}
  - {name: return_value, type: int, priority: 1, doc: "Return value of the call; 0 is success."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 1, doc: "Correlation ID, shared with the GPU operations that the call launched; at best unique within a process."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 0, doc: "Operating system thread ID."}
  - {name: thread_priority, type: int, priority: 3, doc: "Who gave the thread name: 0 NVTX, 10 the profiler, 20 the operating system; null without a name."}
  - {name: thread_name, type: text, doc: "Name of the thread; null without a name."}
  - {name: api_kind, type: text, label: "API", priority: 3, doc: "API: runtime or driver; class N for an unknown event class N."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - dur_ns >= 0
when_empty: "no CUDA API call was recorded"
limits: >-
  A runtime call and the driver call inside it are two rows. If a thread has several names, NVIDIA's report prints its
  calls once per name. nsq prints them once, with the name that has the smallest thread_priority.
see_also: [cuda_api_sum, cuda_kern_exec_trace, api_errors]
nsys:
  title: CUDA API Trace
  aliases: [cudaapitrace]
  lacks:
    - {says: "CUDA trace data"}
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
