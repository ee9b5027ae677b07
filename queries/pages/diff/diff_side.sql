/*---
name: diff_side
version: 1
title: What a report is
summary: The GPUs, the profiler and the kernels of a report.
why: To know whether two reports can be compared.
kind: info
tags: [cuda, gpu]
internal: true
reads: [device, export_fact, gpu, kernel]
requires: [kernel | memcpy | memset | nvtx_range | cuda_call]
columns:
  - {name: gpu_names, type: text, label: "GPUs", priority: 0, doc: "Names of the GPUs that ran kernels, each once, sorted; null if the report names none."}
  - {name: is_trace, type: bool, label: "PyTorch trace", priority: 1, doc: "Whether the report is an imported PyTorch trace."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Executions of kernels."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Sum of their durations."}
  - {name: span_ns, type: duration, unit: ns, label: "from first to last kernel", priority: 1, doc: "From the start of the first kernel to the end of the last; null without kernels."}
checks:
  - kernel_count >= 0
limits: >-
  Kernels in CUDA graphs traced as a whole are not counted.
see_also: [diff_runs, captured]
---*/
SELECT
  (
    SELECT group_concat(gpu_name, ', ')
    FROM (
      SELECT DISTINCT gpu_name
      FROM gpu
      WHERE gpu_id IN (
        SELECT device.gpu_id
        FROM (SELECT DISTINCT device_id, pid FROM kernel) AS used
        JOIN device
          ON device.device_id = used.device_id
          AND coalesce(device.pid, used.pid) = used.pid
      )
      ORDER BY gpu_name
    )
  ) AS gpu_names,
  EXISTS (SELECT 1 FROM export_fact WHERE fact = 'NSQ_IMPORT_OF') AS is_trace,
  count(*) AS kernel_count,
  coalesce(sum(dur_ns), 0) AS kernel_ns,
  max(end_ns) - min(start_ns) AS span_ns
FROM kernel
ORDER BY kernel_count
