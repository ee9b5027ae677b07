/*---
name: jit_step
summary: One row per step of CUDA's JIT compiler.
present_if: [src_cuda_jit]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_cuda_jit]
columns:
  - {name: step_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the step, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the step."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: step_kind, type: text, doc: "What was done: compile, cache load or cache store; type N for an unknown code N."}
  - {name: code_kind, type: text, doc: "What was compiled: PTX to machine code, or NVVM IR to PTX; type N for an unknown code N."}
  - {name: cache_bytes, type: bytes, unit: bytes, doc: "Size of the code in the cache; null if the cache was not used."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; null if unknown."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the call that caused it; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: The raw table is known from NVIDIA's documentation of nsys 2026.4, and was not seen in a real report.
---*/
SELECT
  row_id AS step_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  CASE jitOperationType
    WHEN 1 THEN 'cache load'
    WHEN 2 THEN 'cache store'
    WHEN 3 THEN 'compile'
    ELSE 'type ' || jitOperationType
  END AS step_kind,
  CASE jitEntryType
    WHEN 1 THEN 'PTX to machine code'
    WHEN 2 THEN 'NVVM IR to PTX'
    ELSE 'type ' || jitEntryType
  END AS code_kind,
  cacheSize AS cache_bytes,
  deviceId AS device_id,
  correlationId AS correlation_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid AS global_tid
FROM src_cuda_jit
