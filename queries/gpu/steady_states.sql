/*---
name: steady_states
version: 1
title: Steady states
summary: One row per part of the program that repeats, and per kernel of the rest.
why: To see what else a program does than the steps that are judged, such as other benchmarks, sizes or an evaluation.
kind: sum
tags: [cuda, gpu]
reads: [all_kernel, steady_state]
requires: [steady_state]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: rank, type: int, label: "#", priority: 1, doc: "Place of the row per process and GPU, from 1: most kernel time first, the rest last."}
  - {name: state, type: int, priority: 0, doc: "Number of the steady state, from 0 in order of time; `--iter 'state N'` selects it. Null if uneven, and for the rest."}
  - {name: kind, type: text, priority: 0, doc: "judged: its steps are those of the query steps, if no range marks steps. other: it has less kernel time. uneven: it repeats, but its kernels take too different times for steps, as in a sweep over sizes. rest: a kernel outside all of these."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 0, doc: "Steps, uneven parts, or calls of the kernel."}
  - {name: median_ns, type: duration, unit: ns, label: "median step", priority: 0, doc: "The middle one of the lengths of the steps, from end to end; null for the rest."}
  - {name: min_kernel_ns, type: duration, unit: ns, label: "least kernel time", priority: 2, doc: "Kernel time of the step with the least; null for the rest."}
  - {name: max_kernel_ns, type: duration, unit: ns, label: "most kernel time", priority: 2, doc: "Kernel time of the step with the most; null for the rest."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "GPU time of its kernels and of graphs that were traced as a whole."}
  - {name: share_pct, type: percent, unit: percent, label: "share of kernel time", priority: 0, doc: "kernel_ns as a share of that of the process on the GPU; null without kernels."}
  - {name: start_ns, type: timestamp, unit: ns, label: "start", priority: 1, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, label: "end", priority: 2, doc: "End of its last GPU operation."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: kernel_name, type: text, label: "longest kernel", priority: 0, doc: "Name of the longest kernel of a step in the middle, or of the kernel."}
checks:
  - kind IN ('judged', 'other', 'uneven', 'rest')
  - step_count > 0
when_empty: "no sequence of launches repeats clearly enough to be steps"
limits: >-
  See the relations steady_state and repeated_step. The rest is listed if all steady states of the process on the GPU have less than 90 % of
  its kernel time: the two kernels with most, of those that start in no steady state.
see_also: [steps, capture_phases, top_kernels]
---*/
WITH
state AS MATERIALIZED (
  SELECT *
  FROM steady_state
),
partial AS MATERIALIZED (
  SELECT gpu_id, device_id, pid, max(kernel_ns * 100.0 / share_pct) AS all_ns
  FROM state
  WHERE share_pct > 0
  GROUP BY gpu_id, device_id, pid
  HAVING sum(share_pct) < 90
),
outside AS (
  SELECT
    partial.gpu_id,
    partial.pid,
    partial.all_ns,
    kernel.name_id,
    kernel.kernel_name,
    kernel.start_ns,
    kernel.end_ns,
    kernel.dur_ns
  FROM partial
  CROSS JOIN all_kernel AS kernel
  WHERE kernel.pid = partial.pid
    AND kernel.device_id = partial.device_id
    AND NOT EXISTS (
      SELECT 1
      FROM state
      WHERE state.pid = kernel.pid
        AND state.device_id = kernel.device_id
        AND kernel.start_ns >= state.start_ns
        AND kernel.start_ns < state.end_ns
    )
),
rest AS (
  SELECT
    gpu_id,
    pid,
    name_id,
    max(kernel_name) AS kernel_name,
    count(*) AS call_count,
    sum(dur_ns) AS kernel_ns,
    100.0 * sum(dur_ns) / all_ns AS share_pct,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    row_number() OVER (PARTITION BY gpu_id, pid ORDER BY sum(dur_ns) DESC, name_id) AS nth
  FROM outside
  GROUP BY gpu_id, pid, name_id
)
SELECT
  gpu_id,
  row_number() OVER (PARTITION BY gpu_id, pid ORDER BY kind = 'rest', kernel_ns DESC, start_ns, kernel_name) AS rank,
  state,
  kind,
  step_count,
  median_ns,
  min_kernel_ns,
  max_kernel_ns,
  kernel_ns,
  share_pct,
  start_ns,
  end_ns,
  pid,
  kernel_name
FROM (
  SELECT
    gpu_id,
    state,
    kind,
    step_count,
    median_ns,
    min_kernel_ns,
    max_kernel_ns,
    kernel_ns,
    share_pct,
    start_ns,
    end_ns,
    pid,
    top_kernel_name AS kernel_name
  FROM state
  UNION ALL
  SELECT gpu_id, NULL, 'rest', call_count, NULL, NULL, NULL, kernel_ns, share_pct, start_ns, end_ns, pid, kernel_name
  FROM rest
  WHERE nth <= 2
)
ORDER BY gpu_id, pid, rank
