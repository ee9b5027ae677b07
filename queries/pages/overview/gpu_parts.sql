/*---
name: gpu_parts
version: 3
title: Parts of each GPU's time
summary: What each GPU is, and how its time splits into work and idle time.
why: To compare the GPUs of a report at a glance, on any report within a second.
kind: sum
tags: [cuda, gpu]
internal: true
reads: [finding_window, gpu, gpu_window]
requires: [gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: gpu_name, type: text, priority: 1, doc: "Marketing name, such as NVIDIA H100 80GB HBM3; null if unknown."}
  - {name: window_ns, type: duration, unit: ns, priority: 1, doc: "Time that the scope selects, or from the first to the last operation of the GPU; of a scope from the first to the last of some steps, as that of --steady, the time of the GPU's own steps."}
  - {name: compute_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 1, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran: the rest of window_ns."}
  - {name: communication_ns, type: duration, unit: ns, label: "communication", priority: 2, doc: "Time in which a communication kernel ran, hidden or exposed."}
  - {name: memory_ns, type: duration, unit: ns, label: "copies", priority: 2, doc: "Time in which a copy or fill ran, hidden or exposed."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute % of window", doc: "compute_ns as a share of window_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, label: "exposed comm. % of window", doc: "exposed_communication_ns as a share of window_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, label: "exposed copies % of window", doc: "exposed_memory_ns as a share of window_ns."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle % of window", priority: 1, doc: "idle_ns as a share of window_ns."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the window, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "End of the window."}
checks:
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = window_ns
when_empty: "no GPU operation was recorded"
limits: "See gpu_time, which also names the operation behind the largest part."
see_also: [gpu_time, gpu_strip]
---*/
WITH
own AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM finding_window
  WHERE is_of_steps
),
part AS (
  SELECT gpu_id, start_ns, end_ns, window_ns, compute_ns, exposed_communication_ns, exposed_memory_ns, idle_ns,
    communication_ns, memory_ns
  FROM gpu_window
  WHERE gpu_id NOT IN (SELECT gpu_id FROM own)
  UNION ALL
  SELECT
    own.gpu_id,
    own.start_ns,
    own.end_ns,
    gpu_window.window_ns,
    gpu_window.compute_ns,
    gpu_window.exposed_communication_ns,
    gpu_window.exposed_memory_ns,
    gpu_window.idle_ns,
    gpu_window.communication_ns,
    gpu_window.memory_ns
  FROM own
  CROSS JOIN gpu_window
  WHERE gpu_window.gpu_id = own.gpu_id
    AND gpu_window.start_ns = own.start_ns
    AND gpu_window.end_ns = own.end_ns
)
SELECT
  gpu_id,
  coalesce(
    (SELECT max(gpu_name) FROM gpu WHERE gpu.gpu_id = part.gpu_id),
    -- Not all captures number the GPUs as they describe them.
    (SELECT iif(count(DISTINCT gpu_name) = 1, max(gpu_name), NULL) FROM gpu)
  ) AS gpu_name,
  window_ns,
  compute_ns,
  exposed_communication_ns,
  exposed_memory_ns,
  idle_ns,
  communication_ns,
  memory_ns,
  100.0 * compute_ns / nullif(window_ns, 0) AS compute_pct,
  100.0 * exposed_communication_ns / nullif(window_ns, 0) AS exposed_communication_pct,
  100.0 * exposed_memory_ns / nullif(window_ns, 0) AS exposed_memory_pct,
  100.0 * idle_ns / nullif(window_ns, 0) AS idle_pct,
  start_ns,
  end_ns
FROM part
ORDER BY gpu_id
