/*---
name: capture_phases
version: 1
title: Start-up, steady state and tail
summary: One row per phase of each process on each GPU, with what it spent its time on.
why: To see how much of a capture repeats, and what start-up consists of.
kind: info
tags: [capture, cuda, gpu]
reads: [capture_phase]
requires: [capture_phase]
columns:
  - {name: phase_id, type: id, priority: 3, doc: "Number of the phase of its process and GPU in order of time, from 0."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: phase, type: text, priority: 0, doc: "start-up: before the first step after the warm-up. steady: the steps after the warm-up. tail: what follows, with steps that are unlike the others. once: a process in which nothing repeats."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "end_ns - start_ns."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 0, doc: "Steps in the phase: warm-up steps in start-up; null where nothing repeats."}
  - {name: first_kernel_count, type: int, unit: count, label: "first kernels", priority: 2, doc: "Distinct kernels of the start-up, each loaded and run for the first time; null in other phases."}
  - {name: load_ns, type: duration, unit: ns, label: "module loading", priority: 1, doc: "Time in calls that load modules and libraries; threads add up. Null if no CUDA calls were recorded."}
  - {name: memory_ns, type: duration, unit: ns, label: "allocation", priority: 1, doc: "Time in calls that allocate, free, pin and unpin memory; threads add up. The first one also creates the CUDA context. Null if no CUDA calls were recorded."}
  - {name: upload_ns, type: duration, unit: ns, label: "uploads", priority: 1, doc: "GPU time of copies from the host."}
  - {name: upload_bytes, type: bytes, unit: bytes, label: "uploaded", priority: 2, doc: "Bytes of these copies."}
  - {name: start_ns, type: timestamp, unit: ns, label: "start", priority: 1, doc: "Start of the phase, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, label: "end", priority: 3, doc: "End of the phase."}
  - {name: pid, type: id, priority: 1, doc: "Operating system process ID."}
checks:
  - dur_ns >= 0 AND phase IN ('start-up', 'steady', 'tail', 'once')
when_empty: "no GPU operation was recorded"
limits: See the relation capture_phase.
see_also: [steps, jit_and_module_load]
---*/
SELECT
  phase_id,
  gpu_id,
  phase,
  end_ns - start_ns AS dur_ns,
  step_count,
  first_kernel_count,
  load_ns,
  memory_ns,
  upload_ns,
  upload_bytes,
  start_ns,
  end_ns,
  pid
FROM capture_phase
ORDER BY gpu_id, pid, phase_id
