/*---
name: queued_work
version: 2
title: Launched work does not start
summary: Idle time of a GPU although its next operation had been launched.
why: To find waits for events, other streams and other processes that leave the GPU idle.
kind: finding
tags: [cuda, gpu, latency]
reads: [host_function_wait, idle_part]
finding:
  claim: "Delayed start: the GPU idles although its next operation was launched long before."
  ceiling: Time after the launch call returned until the operation started, less a launch latency of some microseconds.
  remedy: >-
    Find the event or stream that the operation waits for. Processes that share the GPU: use MPS. Windows: use hardware-accelerated GPU scheduling.
  link: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/
  confidence: low
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest queue time to return."}
  - {name: most, type: duration, default: 1ms, min: 0, doc: "Longest queue time to return. A longer one usually means that GPU work was not recorded, unless a stream or a graph ran a function of the host."}
  - {name: latency, type: duration, default: 1us, min: 0, doc: "Time that a launch takes in any case. It is taken off the end."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, or the end of the launch call if that is later."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time until the operation started, without the latency."}
  - {name: subject, type: text, label: "next operation", priority: 0, doc: "Operation that was launched, a kernel without its arguments; after host function before or graph node before, where host_function_wait has the wait."}
  - {name: before_name, type: text, label: "before", doc: "Last operation before the gap; null at the start of the window."}
limits: >-
  The report does not say what a launched operation waits for. In sampled or cut traces, the GPU may have run work that
  is not in the report. A graph launch counts from its call, so time between the
  nodes of a graph is queue time. Without --trace=cuda in all processes, work of others is invisible.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [gpu_idle_causes, launch_latency, stream_gaps]
---*/
SELECT
  gpu_id,
  start_ns,
  dur_ns - :latency AS dur_ns,
  coalesce(host.waits_for || ' before ', '')
    || CASE after_kind WHEN 'kernel' THEN simple_name(after_name) ELSE after_name END AS subject,
  before_name
FROM idle_part
LEFT JOIN host_function_wait AS host
  ON host.part_id = idle_part.part_id
WHERE part = 'queued'
  AND dur_ns >= :least
  AND dur_ns > :latency
  AND (dur_ns <= :most OR host.part_id IS NOT NULL)
ORDER BY gpu_id, start_ns, after_id
