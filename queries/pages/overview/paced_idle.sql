/*---
name: paced_idle
version: 1
title: Idle time set from outside
summary: Idle time in which the launching thread waited for work, per function.
why: To tell a program that waits for work from one that is slow to launch it.
kind: sum
tags: [gpu, osrt]
internal: true
reads: [outside_wait]
requires: [idle_part, os_call | python_frame]
columns:
  - {name: function_name, type: text, label: "function", priority: 0, doc: "Function that the thread waited in, such as epoll_wait; of Python, FILE(LINE): FUNCTION."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 0, doc: "Idle time of the GPUs in these calls, before the next launch; GPUs add up."}
  - {name: wait_count, type: int, unit: count, label: "waits", priority: 1, doc: "Number of these intervals."}
checks:
  - total_ns > 0
limits: See the relation outside_wait. Time of waits that feed the GPU, such as a data loader's, counts too.
see_also: [dataloader_wait, gpu_idle_host, host_work]
---*/
SELECT function_name, sum(dur_ns) AS total_ns, count(*) AS wait_count
FROM outside_wait
GROUP BY function_name
ORDER BY total_ns DESC, function_name
