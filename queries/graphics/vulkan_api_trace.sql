/*---
name: vulkan_api_trace
version: 1
title: Vulkan API trace
summary: Every record of the Vulkan API, sorted by start.
why: To follow the Vulkan calls of a thread one by one.
kind: trace
tags: [api]
reads: [vulkan_call, thread]
requires: [vulkan_call]
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the call, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the call."}
  - {name: api_symbol, type: text, label: "API function", priority: 0, doc: "Function name as recorded."}
  - {name: event_class, type: id, label: "event class", priority: 3, doc: "NVIDIA's code for the record: 53 is a call, 60 is the creation of an object."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "Trace context; null if none."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 1, doc: "Correlation ID, shared with related Vulkan events; null if none."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null if unknown."}
  - {name: tid, type: id, priority: 0, doc: "Operating system thread ID; null if unknown."}
  - {name: thread_priority, type: int, priority: 3, doc: "Who gave the thread name: 0 NVTX, 10 the profiler, 20 the operating system; null without a name."}
  - {name: thread_name, type: text, doc: "Name of the thread; null without a name."}
checks:
  - dur_ns >= 0
when_empty: "no Vulkan call was recorded"
limits: >-
  If a thread has several names, NVIDIA's report prints its calls once per name. nsq prints them once, with the name that
  has the smallest thread_priority.
see_also: [vulkan_api_sum, cuda_api_trace]
nsys:
  title: Vulkan API Trace
  aliases: [vulkanapitrace]
  lacks:
    - {says: "Vulkan API trace data"}
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Name, sql: api_symbol}
    - {name: Event Class, sql: event_class}
    - {name: Context, sql: context_id}
    - {name: CorrID, sql: correlation_id}
    - {name: Pid, sql: pid}
    - {name: Tid, sql: tid}
    - {name: T-Pri, sql: thread_priority}
    - {name: Thread Name, sql: thread_name}
---*/
SELECT
  call.start_ns,
  call.dur_ns,
  call.api_symbol,
  call.event_class,
  call.context_id,
  call.correlation_id,
  call.pid,
  call.tid,
  thread.priority AS thread_priority,
  thread.thread_name
FROM vulkan_call AS call
LEFT JOIN thread
  ON thread.global_tid = call.global_tid
ORDER BY call.start_ns, call.end_ns DESC, call.call_id
