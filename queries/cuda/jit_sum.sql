/*---
name: jit_sum
version: 1
title: JIT compilation of CUDA code
summary: Time per step of CUDA's JIT compiler, most time first.
why: To see how much start-up time compilation costs, and whether the cache helps.
kind: sum
tags: [cuda]
reads: [jit_step]
columns:
  - {name: code_kind, type: text, label: "code", priority: 0, doc: "What was compiled: PTX to machine code, or NVVM IR to PTX."}
  - {name: step_kind, type: text, label: "step", priority: 0, doc: "What was done: compile, cache load or cache store."}
  - {name: steps, type: int, unit: count, priority: 1, doc: "Number of steps."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Sum of their durations over all threads."}
  - {name: time_pct, type: percent, unit: percent, label: "share of JIT time", priority: 1, doc: "total_ns as a share of all rows."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 1, doc: "Mean duration of a step."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Longest step."}
  - {name: cache_bytes, type: bytes, unit: bytes, label: "code in cache", priority: 1, doc: "Sum of the sizes of the code in the cache; null if the cache was not used."}
  - {name: first_ns, type: timestamp, unit: ns, label: "first start", priority: 3, doc: "Start of the first step, on the report's clock."}
  - {name: last_ns, type: timestamp, unit: ns, label: "last end", priority: 3, doc: "End of the last step."}
checks:
  - steps >= 1 AND total_ns >= max_ns
limits: >-
  CUDA compiles only code that has no machine code for this GPU. Compilers of the program, such as Triton or torch.compile,
  are not CUDA's JIT.
see_also: [jit_and_module_load, capture_phases, cuda_api_sum]
---*/
SELECT
  code_kind,
  step_kind,
  count(*) AS steps,
  sum(dur_ns) AS total_ns,
  100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS time_pct,
  avg(dur_ns) AS mean_ns,
  max(dur_ns) AS max_ns,
  sum(cache_bytes) AS cache_bytes,
  min(start_ns) AS first_ns,
  max(end_ns) AS last_ns
FROM jit_step
GROUP BY code_kind, step_kind
ORDER BY total_ns DESC, steps DESC, code_kind, step_kind
