/*---
name: iteration_times
version: 2
title: Iterations
summary: One row per iteration and GPU, with what the GPU did in that time.
why: To see whether iterations take the same time, what the median one is made of, and which ones are slow.
kind: trace
tags: [cuda, gpu, nvtx]
internal: true
reads: [gpu_window, step_window]
requires: [step_window, gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: iteration, type: int, priority: 0, doc: "Position by start among the iterations of the thread, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 2, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time until the next iteration's first GPU operation starts. The last iteration ends with its last operation, or with its range if that ends later."}
  - {name: part, type: text, priority: 1, doc: "warm-up, median or steady. The median iteration is the one in the middle of the steady ones by dur_ns."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one operation ran on the GPU, from any range or process."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran: dur_ns - busy_ns."}
  - {name: op_count, type: int, unit: count, label: "operations", doc: "GPU operations launched inside the range, on all GPUs."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 3, doc: "Duration of the range on the CPU."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the range in the raw table; null for repeated steps."}
  - {name: range_name, type: text, label: "range", priority: 2, doc: "Message, with the prefix DOMAIN: outside the default domain; such as step 3 without a range."}
  - {name: layer_name, type: text, label: "folded name", priority: 3, doc: "range_name with each number replaced by *; step without a range."}
  - {name: found, type: text, priority: 2, doc: "marked: by NVTX ranges. repeated: by the sequence of launches."}
checks:
  - dur_ns > 0 AND iteration >= 0
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = dur_ns
  - part IN ('warm-up', 'median', 'steady')
when_empty: no NVTX range looks like an iteration, and no sequence of launches repeats; range_names lists the names
limits: >-
  Iterations are the steps of the relation step_window: marked by NVTX ranges or found by repetition, if a thread has at
  least two with GPU work. Iterations of several threads, such as one per GPU, have numbers of their own.
see_also: [iterations, iteration_sum, gpu_time_by_range]
---*/
SELECT
  gpu.gpu_id,
  it.step AS iteration,
  gpu.start_ns,
  gpu.window_ns AS dur_ns,
  it.part,
  gpu.busy_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  it.op_count,
  it.cpu_end_ns - it.cpu_start_ns AS cpu_ns,
  it.pid,
  it.tid,
  it.range_id,
  it.step_name AS range_name,
  it.layer_name,
  it.found
FROM step_window AS it
CROSS JOIN gpu_window AS gpu
WHERE gpu.gpu_id = it.gpu_id
  AND gpu.start_ns = it.start_ns
  AND gpu.end_ns = it.end_ns
  AND gpu.window_ns > 0
  AND it.step_count > 1
ORDER BY it.gpu_id, it.global_tid, it.step, it.range_id
