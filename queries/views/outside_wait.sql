/*---
name: outside_wait
summary: One row per interval in which a GPU idled and the launching thread waited for something outside.
internal: true
present_if: [os_call]
stored: true
reads: [idle_os_call]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Function that the thread waited in, such as epoll_wait."}
  - {name: call_id, type: id, doc: "Row ID of the call in the raw table."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs."}
limits: >-
  What the thread waited for is not recorded: a request, another process, or a time. Waits for other threads of the
  process, such as pthread_cond_wait, are not here, nor are reads, which may be slow files.
---*/
SELECT gpu_id, start_ns, end_ns, dur_ns, function_name, call_id, global_tid
FROM idle_os_call
WHERE role IN ('event', 'receive', 'sleep')
