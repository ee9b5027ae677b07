/*---
name: idle_calls
version: 2
title: System calls in idle time
summary: Idle time of GPUs with the launching thread in a system call, per function.
why: To see what the host does while a GPU waits for it, such as reading a file.
kind: sum
tags: [gpu, osrt]
internal: true
reads: [idle_os_call]
requires: [idle_part, os_call]
columns:
  - {name: function_name, type: text, label: "OS call", priority: 0, doc: "Function that the thread was in, such as pread64."}
  - {name: role, type: text, priority: 3, doc: "What the function waits for, as in os_function; null if for nothing that is known."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 0, doc: "Idle time of the GPUs in these calls, before the next launch; GPUs add up."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 1, doc: "Number of these intervals."}
checks:
  - total_ns > 0
limits: See the relation idle_os_call.
see_also: [gpu_idle_host_sum, host_work, paced_idle]
---*/
SELECT function_name, role, sum(dur_ns) AS total_ns, count(*) AS interval_count
FROM idle_os_call
GROUP BY function_name, role
ORDER BY total_ns DESC, function_name, role
