/*---
name: diff_spots
version: 1
title: Launches that changed otherwise than their like
summary: Each launch of a kernel in the step that changed otherwise than its like.
why: To find the one launch among many of a name and shape that got slower.
kind: sum
tags: [gpu, kernel, nvtx]
internal: true
reads: []
asks: [diff_place_times]
across: true
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to count only work in steps, if the report has any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
  - {name: runs_a, type: int, default: 1, min: 1, doc: "Number of reports that are runs of A. All later ones are runs of B."}
  - {name: confidence, type: real, default: 99, min: 50, max: 99.999, doc: "Confidence level of the noise bounds, in percent."}
columns:
  - {name: name, type: text, priority: 0, doc: "Demangled kernel name."}
  - {name: shape, type: text, priority: 2, doc: "Grid / block."}
  - {name: nth, type: int, label: "launch", priority: 0, doc: "Place among the launches of this kernel and shape in the step, from 1, in the order of their starts."}
  - {name: nth_count, type: int, unit: count, label: "of", priority: 0, doc: "Launches of this kernel and shape in each step, in A as in B."}
  - {name: path, type: text, priority: 1, doc: "Path of the innermost NVTX range around the launch, in the first run of B; null without one."}
  - {name: verdict, type: text, priority: 0, doc: "slower or faster."}
  - {name: a_ns, type: duration, unit: ns, label: "A", priority: 0, doc: "Mean time of this launch in A."}
  - {name: b_ns, type: duration, unit: ns, label: "B", priority: 0, doc: "The same in B."}
  - {name: change_pct, type: percent, unit: percent, label: "relative", priority: 0, doc: "Change of B against A, in percent of A."}
  - {name: noise_pct, type: percent, unit: percent, label: "noise bound", priority: 0, doc: "A change within plus or minus this is noise. The confidence holds for all launches of the kernel and shape together."}
  - {name: usual_pct, type: percent, unit: percent, label: "the others", priority: 1, doc: "Median of change_pct over all launches of the kernel and shape: what clocks or data change for all."}
checks:
  - verdict IN ('slower', 'faster')
  - abs(change_pct) > noise_pct
when_empty: "no launch of a kernel changed beyond noise and otherwise than the others of its name and shape"
limits: >-
  See diff_place_times for the kernels that are compared. With one run on each side, the noise bound comes from the spread
  over steps, and is at least 5 %: give several runs to find less.
see_also: [diff_rows, diff_place_times]
---*/
WITH
side AS (
  SELECT
    name,
    shape,
    nth,
    nth_count,
    min(iif(side = :runs_a, path, NULL)) AS path,
    avg(mean_ns) FILTER (WHERE side < :runs_a) AS a_ns,
    avg(mean_ns) FILTER (WHERE side >= :runs_a) AS b_ns,
    count(*) AS runs,
    difference_error(side >= :runs_a, mean_ns, error_ns, freedom_ns) AS error_ns,
    difference_freedom(side >= :runs_a, mean_ns, error_ns, freedom_ns) AS freedom
  FROM diff_place_times
  GROUP BY name, shape, nth, nth_count
),
bound AS MATERIALIZED (
  SELECT
    *,
    100.0 * (b_ns - a_ns) / a_ns AS change_pct,
    100.0 * max(
      coalesce(student_bound(100 - (100 - :confidence) / nth_count, freedom), 0) * error_ns,
      -- One launch differs by so much between two runs of one program, also if its steps do not.
      iif(runs = 2, 0.05 * a_ns, 0)
    ) / a_ns AS noise_pct
  FROM side
  WHERE a_ns > 0
    AND b_ns > 0
),
usual AS MATERIALIZED (
  SELECT name, shape, nth_count, median(change_pct) AS usual_pct
  FROM bound
  GROUP BY name, shape, nth_count
)
SELECT
  bound.name,
  bound.shape,
  bound.nth,
  bound.nth_count,
  bound.path,
  iif(bound.change_pct > 0, 'slower', 'faster') AS verdict,
  CAST(round(bound.a_ns) AS INTEGER) AS a_ns,
  CAST(round(bound.b_ns) AS INTEGER) AS b_ns,
  bound.change_pct,
  bound.noise_pct,
  usual.usual_pct
FROM bound
JOIN usual
  ON usual.name = bound.name
  AND usual.shape = bound.shape
  AND usual.nth_count = bound.nth_count
WHERE abs(bound.change_pct) > bound.noise_pct
  AND abs(bound.change_pct - usual.usual_pct) > bound.noise_pct
ORDER BY abs(bound.b_ns - bound.a_ns) DESC, bound.name, bound.shape, bound.nth, bound.nth_count
