/*---
name: green_contexts
version: 1
title: Green contexts
summary: GPU work in each green context, and how many SMs it has, most time first.
why: To see whether the parts of a GPU that green contexts make are used, and at the same time.
kind: sum
tags: [cuda, gpu, kernel]
reads: [cuda_gpu, gpu_op, green_context, process_device]
requires: [gpu_op]
rows_if: EXISTS (SELECT 1 FROM green_context)
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: green_context_id, type: id, label: "green context", priority: 0, doc: "ID of the green context within its process; null for work outside green contexts."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: sm_count, type: int, unit: count, label: "SMs", priority: 1, doc: "SMs of the green context; null outside one and before schema 3.24."}
  - {name: sm_pct, type: percent, unit: percent, label: "share of SMs", priority: 1, doc: "sm_count as a share of the SMs of the GPU; null if either is unknown."}
  - {name: op_count, type: int, unit: count, label: "operations", priority: 1, doc: "Kernels, copies and fills."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 2, doc: "Kernels alone."}
  - {name: total_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the operations."}
  - {name: busy_ns, type: duration, unit: ns, label: "time at work", priority: 1, doc: "Time in which at least one of the operations ran."}
  - {name: busy_pct, type: percent, unit: percent, label: "share of its span", priority: 1, doc: "busy_ns as a share of the time from the first to the last operation in the green context."}
  - {name: first_ns, type: timestamp, unit: ns, label: "first", priority: 3, doc: "Start of the first operation."}
  - {name: last_ns, type: timestamp, unit: ns, label: "last", priority: 3, doc: "End of the last operation."}
  - {name: parent_context_id, type: id, label: "made from", priority: 3, doc: "Context that the green context was made from; null if unknown."}
checks:
  - op_count >= kernel_count AND total_ns >= busy_ns
  - busy_pct IS NULL OR busy_pct BETWEEN 0 AND 100
when_empty: "the export has no green context, or nothing ran in one"
limits: >-
  Work of processes without green contexts is left out, and so are CUDA graphs traced as a whole. Green contexts may
  share SMs: their shares can add up to more than the GPU. Real exports with green contexts were not at hand.
see_also: [stream_concurrency, gpu_context_switches, few_blocks]
---*/
WITH
worked AS MATERIALIZED (
  SELECT
    pid,
    device_id,
    green_context_id,
    count(*) AS op_count,
    sum(op_kind = 'kernel') AS kernel_count,
    sum(dur_ns) AS total_ns,
    busy_ns(start_ns, end_ns) AS busy_ns,
    min(start_ns) AS first_ns,
    max(end_ns) AS last_ns
  FROM gpu_op
  GROUP BY pid, device_id, green_context_id
),
place AS MATERIALIZED (
  SELECT pid, device_id, max(gpu_id) AS gpu_id
  FROM process_device
  GROUP BY pid, device_id
),
part AS MATERIALIZED (
  SELECT
    pid,
    device_id,
    green_context_id,
    max(sm_count) AS sm_count,
    max(parent_context_id) AS parent_context_id
  FROM green_context
  GROUP BY pid, device_id, green_context_id
)
SELECT
  place.gpu_id,
  worked.green_context_id,
  worked.pid,
  part.sm_count,
  100.0 * part.sm_count / nullif((SELECT max(gpu.sm_count) FROM cuda_gpu AS gpu WHERE gpu.gpu_id = place.gpu_id), 0)
    AS sm_pct,
  worked.op_count,
  worked.kernel_count,
  worked.total_ns,
  worked.busy_ns,
  100.0 * worked.busy_ns / nullif(worked.last_ns - worked.first_ns, 0) AS busy_pct,
  worked.first_ns,
  worked.last_ns,
  part.parent_context_id
FROM worked
LEFT JOIN place
  ON place.device_id = worked.device_id
  AND place.pid IS NOT DISTINCT FROM worked.pid
LEFT JOIN part
  ON part.green_context_id = worked.green_context_id
  AND part.device_id = worked.device_id
  AND part.pid IS NOT DISTINCT FROM worked.pid
WHERE worked.pid IN (SELECT pid FROM green_context)
ORDER BY worked.total_ns DESC, place.gpu_id, worked.pid, worked.device_id, worked.green_context_id
