/*---
name: steady_state
summary: One row per part of a program whose launches repeat, such as two benchmarks one after the other, without NVTX ranges.
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_repeated_step, scope]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: state, type: int, doc: "Number of the steady state, from 0 in order of time; null if uneven."}
  - {name: kind, type: text, doc: "judged: its steps are those of step. other: it has less kernel time, or another one was chosen. uneven: its parts take too different times for steps."}
  - {name: step_count, type: int, unit: count, doc: "Steps, or uneven parts."}
  - {name: median_ns, type: duration, unit: ns, doc: "The middle one of the lengths of the steps, from end to end; of the first, from its start."}
  - {name: min_kernel_ns, type: duration, unit: ns, doc: "Kernel time of the part with the least."}
  - {name: max_kernel_ns, type: duration, unit: ns, doc: "Kernel time of the part with the most."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of its last GPU operation."}
  - {name: kernel_ns, type: duration, unit: ns, doc: "GPU time of its kernels and of graphs that were traced as a whole."}
  - {name: share_pct, type: percent, unit: percent, doc: "kernel_ns as a share of that of the process on the GPU; null without kernels."}
  - {name: top_kernel_name, type: text, doc: "Name of the longest kernel of a part in the middle; null without kernels."}
limits: >-
  See repeated_step. Marked steps do not change these rows.
---*/
WITH
timed AS (
  SELECT
    *,
    end_ns - coalesce(lag(end_ns) OVER (PARTITION BY global_pid, gpu_id, level ORDER BY step), start_ns) AS dur_ns
  FROM all_repeated_step
  WHERE kind <> 'block'
)
SELECT
  gpu_id,
  device_id,
  pid,
  state,
  CASE
    WHEN (SELECT iteration_name FROM scope) = 'state ' || state THEN 'judged'
    WHEN (SELECT iteration_name FROM scope) GLOB 'state [0-9]*' AND kind = 'step' THEN 'other'
    WHEN kind = 'step' THEN 'judged'
    ELSE kind
  END AS kind,
  step_count,
  CAST(median(dur_ns) AS INTEGER) AS median_ns,
  min(kernel_ns) AS min_kernel_ns,
  max(kernel_ns) AS max_kernel_ns,
  min(start_ns) AS start_ns,
  max(end_ns) AS end_ns,
  sum(kernel_ns) AS kernel_ns,
  iif(all_kernel_ns > 0, 100.0 * sum(kernel_ns) / all_kernel_ns, NULL) AS share_pct,
  max(iif(step = step_count / 2, top_kernel_name, NULL)) AS top_kernel_name
FROM timed
GROUP BY global_pid, gpu_id, level
