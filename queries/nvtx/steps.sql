/*---
name: steps
version: 3
title: Steps
summary: One row per step and GPU, marked by NVTX ranges or found by repetition.
why: To see what the program repeats, how long a step takes on the GPU and on the host, and where start-up ends.
kind: sum
tags: [cuda, gpu, nvtx]
reads: [gpu_window, step_window]
requires: [step_window, gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: step, type: int, priority: 0, doc: "Number of the step, from 0 per thread. `--iter 'step N'` selects one."}
  - {name: part, type: text, priority: 0, doc: "warm-up, median, steady or tail, as in step_window. `--steady` leaves out warm-up and tail."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "From the end of the GPU work of the step before to the end of its own. The first step begins with its first operation; if it is marked and the GPU idles before, with its range. The only step ends with its range, if that is later."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time of dur_ns in which the GPU did anything."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 2, doc: "Part of dur_ns in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 2, doc: "Part of dur_ns in which communication ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 2, doc: "Part of dur_ns in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 1, doc: "dur_ns - busy_ns."}
  - {name: cpu_ns, type: duration, unit: ns, label: "host time", priority: 1, doc: "From the end of the step before on the host to its own end; of the first step, its length. Null if launches were not recorded."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations launched in the step, on all GPUs."}
  - {name: found, type: text, priority: 1, doc: "marked: by NVTX ranges. repeated: by the sequence of launches."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 3, doc: "Steps of the thread that have GPU work."}
  - {name: is_only, type: bool, label: "only one", priority: 3, doc: "1 for the only marked step of a report in which nothing repeats."}
  - {name: repeat_count, type: int, unit: count, label: "repeats", priority: 2, doc: "Repeats of the launch sequence that begin in the step: a marked step with 3 encloses three passes. Null if no sequence repeats."}
  - {name: has_other_work, type: bool, label: "other work", priority: 2, doc: "1 if less than 70 % of what it and the usual step launch is in both, as of a step with an evaluation in it; 0 for marked steps."}
  - {name: start_ns, type: timestamp, unit: ns, label: "start", priority: 1, doc: "Start of dur_ns, on the report's clock."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, label: "host start", priority: 3, doc: "Start of the step on the CPU; null if launches were not recorded."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID; null if launches were not recorded."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the range in the raw table; null for repeated steps."}
  - {name: step_name, type: text, label: "name", priority: 1, doc: "Message of the range, with the prefix DOMAIN: outside the default domain; such as step 3 without a range."}
  - {name: layer_name, type: text, label: "folded name", priority: 3, doc: "step_name with each number replaced by *; step without a range."}
checks:
  - dur_ns = busy_ns + idle_ns
  - busy_ns = compute_ns + exposed_communication_ns + exposed_memory_ns
  - part IN ('warm-up', 'median', 'steady', 'tail')
when_empty: "no NVTX range marks a step, and no sequence of launches repeats clearly enough to be one"
limits: >-
  See the relations step and step_window. Steps that overlap another one completely on the GPU have no row.
see_also: [iterations, capture_phases, gpu_time]
---*/
SELECT
  gpu.gpu_id,
  win.step,
  win.part,
  gpu.window_ns AS dur_ns,
  gpu.busy_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  win.cpu_end_ns - coalesce(
    lag(win.cpu_end_ns) OVER (PARTITION BY win.gpu_id, win.global_tid ORDER BY win.step),
    win.cpu_start_ns
  ) AS cpu_ns,
  win.op_count,
  win.found,
  win.step_count,
  win.is_only,
  win.repeat_count,
  win.has_other_work,
  gpu.start_ns,
  win.cpu_start_ns,
  win.pid,
  win.tid,
  win.range_id,
  win.step_name,
  win.layer_name
FROM step_window AS win
CROSS JOIN gpu_window AS gpu
WHERE gpu.gpu_id = win.gpu_id
  AND gpu.start_ns = win.start_ns
  AND gpu.end_ns = win.end_ns
  AND gpu.window_ns > 0
ORDER BY gpu.gpu_id, win.pid, win.tid, win.step, win.range_id
