/*---
name: diff_phases
version: 1
title: What happens once
summary: Start-up and other one-time costs of both sides, which are not judged.
why: To see whether a change moved time into or out of start-up.
kind: sum
tags: [capture, cuda, gpu]
internal: true
reads: []
asks: [capture_phases, diff_runs]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
columns:
  - {name: cost, type: text, priority: 0, doc: "start-up: up to the first steady step, of which the others are a part; module loading, allocation or uploads."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 1, doc: "Time in A: of the process that takes longest, mean of the runs."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 1, doc: "The same in B."}
  - {name: change_ns, type: duration, unit: ns, label: "change", priority: 1, doc: "b_ns - a_ns."}
checks:
  - change_ns = b_ns - a_ns
when_empty: "a side has no steps, so nothing is left out"
limits: >-
  As in capture_phases. One start-up a run: no noise is known.
see_also: [capture_phases, diff_whole]
---*/
WITH
started AS (
  SELECT
    side,
    max(dur_ns) AS dur_ns,
    max(load_ns) AS load_ns,
    max(memory_ns) AS memory_ns,
    max(upload_ns) AS upload_ns
  FROM capture_phases
  WHERE phase = 'start-up'
  GROUP BY side
),
run AS MATERIALIZED (
  SELECT
    run.is_b,
    coalesce(started.dur_ns, 0) AS dur_ns,
    coalesce(started.load_ns, 0) AS load_ns,
    coalesce(started.memory_ns, 0) AS memory_ns,
    coalesce(started.upload_ns, 0) AS upload_ns
  FROM diff_runs AS run
  LEFT JOIN started
    ON started.side = run.side
  WHERE (SELECT min(iteration_count) > 0 FROM diff_runs)
),
cost AS (
  SELECT 1 AS rank, 'start-up' AS cost, is_b, dur_ns FROM run
  UNION ALL
  SELECT 2, 'module loading', is_b, load_ns FROM run
  UNION ALL
  SELECT 3, 'allocation', is_b, memory_ns FROM run
  UNION ALL
  SELECT 4, 'uploads', is_b, upload_ns FROM run
),
both AS (
  SELECT
    rank,
    cost,
    CAST(avg(dur_ns) FILTER (WHERE NOT is_b) AS INTEGER) AS a_ns,
    CAST(avg(dur_ns) FILTER (WHERE is_b) AS INTEGER) AS b_ns
  FROM cost
  GROUP BY rank, cost
)
SELECT cost, a_ns, b_ns, b_ns - a_ns AS change_ns
FROM both
WHERE a_ns > 0
  OR b_ns > 0
ORDER BY rank
