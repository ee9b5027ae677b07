/*---
name: diff_runs
version: 7
title: What is compared
summary: One row per report, with its side and its steps.
why: To see which runs are compared, and per what.
kind: info
tags: [cuda, gpu]
internal: true
reads: []
asks: [diff_side, diff_windows]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: is_b, type: bool, label: "B", priority: 0, doc: "Whether the report is a run of B; otherwise it is a run of A."}
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: iteration_name, type: text, label: "steps", priority: 1, doc: "Name of the steps, each number replaced by *; null without steps."}
  - {name: iteration_count, type: int, unit: count, label: "number of steps", priority: 1, doc: "Steps that count, on all threads; 0 without steps."}
  - {name: stalled_count, type: int, unit: count, label: "steps in a stall", priority: 2, doc: "Steps that do not count, because they are in a stall that happened once, as in stalled_step; 0 if most runs of a side have one: then they count in the time of a step."}
  - {name: stalled_ns, type: duration, unit: ns, label: "longest step in the stall", priority: 3, doc: "The longest step in the stall; null without one."}
  - {name: found, type: text, priority: 3, doc: "marked: by NVTX ranges. repeated: by the sequence of launches. Null without steps."}
  - {name: unit_count, type: int, unit: count, label: "units", priority: 3, doc: "What times are divided by: the steps; 1 without steps."}
  - {name: gpu_names, type: text, label: "GPUs", priority: 1, doc: "Names of the GPUs that ran work; null if the report names none."}
  - {name: is_trace, type: bool, label: "PyTorch trace", priority: 2, doc: "Whether the report is an imported PyTorch trace."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Executions of kernels, in and outside steps."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Sum of their durations."}
  - {name: step_blocks, type: int, unit: count, label: "thread blocks of a step", priority: 3, doc: "Thread blocks of the median step; null without steps."}
  - {name: graph_count, type: int, unit: count, label: "graph executions", priority: 3, doc: "Executions of CUDA graphs that were traced as a whole."}
  - {name: graph_ns, type: duration, unit: ns, label: "graph time", priority: 3, doc: "Sum of their durations."}
  - {name: same_as, type: int, label: "same run as", priority: 3, doc: "Position of the first report with the same run, by its windows to the nanosecond; null if no earlier report has it."}
  - {name: lacks, type: text, label: "lacks", priority: 3, doc: "GPU work, if the report has none in the scope; else null."}
checks:
  - stalled_count >= 0 AND (stalled_count > 0) = (stalled_ns IS NOT NULL)
  - unit_count >= 1 AND iteration_count >= 0
  - same_as IS NULL OR same_as < side
limits: >-
  Steps are the steps of the relation step_window, without warm-up and without a stall that happened once.
see_also: [diff_side, diff_windows]
---*/
WITH
counted AS MATERIALIZED (
  SELECT
    side,
    min(layer_name) AS iteration_name,
    count(DISTINCT global_tid || ' ' || place) AS iteration_count,
    iif(count(range_id) = 0, 'repeated', 'marked') AS found
  FROM diff_windows
  WHERE kind = 'step'
  GROUP BY side
),
stalled AS MATERIALIZED (
  SELECT side, count(DISTINCT global_tid || ' ' || place) AS stalled_count, max(window_ns) AS stalled_ns
  FROM diff_windows
  WHERE kind = 'stalled'
  GROUP BY side
),
content AS (
  SELECT
    side,
    count(*) AS windows,
    min(start_ns) AS start_ns,
    max(start_ns) AS last_ns,
    sum(window_ns) AS window_ns,
    sum(compute_ns) AS compute_ns,
    sum(idle_ns) AS idle_ns
  FROM diff_windows
  GROUP BY side
),
-- A copy, another export and a baseline of one run are one run.
same AS MATERIALIZED (
  SELECT
    side,
    min(side) OVER (PARTITION BY windows, start_ns, last_ns, window_ns, compute_ns, idle_ns) AS same_as
  FROM content
),
-- What most runs of a side have is how the program runs.
usual AS MATERIALIZED (
  SELECT max(stall_count > 1 AND 2 * stall_count > run_count) AS is_usual
  FROM (
    SELECT count(*) AS run_count, count(stalled.side) AS stall_count
    FROM diff_side AS run
    LEFT JOIN stalled
      ON stalled.side = run.side
    GROUP BY run.side >= :runs_a
  )
)
SELECT
  run.side,
  run.side >= :runs_a AS is_b,
  run.report,
  counted.iteration_name,
  coalesce(counted.iteration_count, 0) AS iteration_count,
  iif(usual.is_usual, 0, coalesce(stalled.stalled_count, 0)) AS stalled_count,
  iif(usual.is_usual, NULL, stalled.stalled_ns) AS stalled_ns,
  counted.found,
  max(coalesce(counted.iteration_count, 0), 1) AS unit_count,
  run.gpu_names,
  run.is_trace,
  run.kernel_count,
  run.kernel_ns,
  run.step_blocks,
  run.graph_count,
  run.graph_ns,
  nullif(same.same_as, run.side) AS same_as,
  iif(run.kernel_count + run.graph_count > 0 OR run.side IN (SELECT side FROM diff_windows), NULL, 'GPU work') AS lacks
FROM diff_side AS run
CROSS JOIN usual
LEFT JOIN counted
  ON counted.side = run.side
LEFT JOIN stalled
  ON stalled.side = run.side
LEFT JOIN same
  ON same.side = run.side
ORDER BY run.side
