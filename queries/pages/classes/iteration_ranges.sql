/*---
name: iteration_ranges
version: 1
title: Ranges that are iterations
summary: NVTX ranges with the name of an iteration, with their span on the GPU.
why: To count iterations, and to see how long the GPU worked for each.
kind: trace
tags: [cuda, gpu, nvtx]
internal: true
reads: [nvtx_name, nvtx_projection]
params:
  - {name: tag, type: text, doc: "GLOB pattern for the range name, with or without its domain. Without it, no range is an iteration."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 1, doc: "Start of the first operation on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "Time from start_ns to the end of the last operation, including idle time between operations."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain."}
  - {name: range_text, type: text, label: "text", priority: 3, doc: "Message without the domain."}
  - {name: domain_name, type: text, label: "domain", priority: 3, doc: "Domain; null for the default domain."}
checks:
  - dur_ns >= 0
when_empty: "no range with this name launched GPU work: range_names lists the names"
limits: >-
  Ranges that launched no GPU work have no row. If ranges with this name are nested, all have a row.
see_also: [nvtx_gpu_proj_trace, iterations, class_iterations]
---*/
SELECT
  range.proj_start_ns AS start_ns,
  range.proj_end_ns - range.proj_start_ns AS dur_ns,
  range.pid,
  range.range_id,
  range.range_name,
  name.range_text,
  name.domain_name
FROM nvtx_projection AS range
JOIN nvtx_name AS name
  ON name.name_id = range.name_id
WHERE range.op_count > 0
  AND (name.range_name GLOB :tag OR name.range_text GLOB :tag)
ORDER BY range.proj_start_ns, range.range_id
