/*---
name: step_trend
version: 1
title: Steps that get slower
summary: GPUs whose steps get slower over the capture, all at once or steadily.
why: A mean step hides that the clock dropped, or that something grows from step to step.
kind: info
internal: true
tags: [gpu, kernel]
reads: [gpu_window, kernel, step_window, string]
requires: [gpu_window, kernel, step_window]
rows_if: EXISTS (SELECT 1 FROM step_window WHERE part IN ('median', 'steady') GROUP BY gpu_id, global_tid HAVING count(*) >= 10)
params:
  - {name: least, type: real, default: 1.15, min: 1, doc: "Least factor by which all kernels take longer."}
  - {name: grown, type: real, default: 1.3, min: 1, doc: "Least ratio of the last quarter of the steps to the first one."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU whose steps these are."}
  - {name: kind, type: text, priority: 0, doc: "clock: from a step on, kernels take longer by one factor. growth: step time grows steadily, with the same number of operations."}
  - {name: step, type: int, priority: 1, doc: "Of clock: the first slow step. Else null."}
  - {name: times, type: real, label: "times as long", priority: 1, doc: "Of clock: time of the kernels from then on, divided by that before. Of growth: the last quarter of the steps, divided by the first."}
  - {name: alike_pct, type: percent, unit: percent, label: "share of kernel time", priority: 2, doc: "Of clock: kernel time of the slow steps in kernels whose time grew by about this factor. Else null."}
  - {name: first_ns, type: duration, unit: ns, label: "first steps", priority: 1, doc: "Median step before; of growth, of the first quarter."}
  - {name: last_ns, type: duration, unit: ns, label: "last steps", priority: 1, doc: "Median step from then on; of growth, of the last quarter."}
  - {name: part, type: text, label: "what grows", priority: 1, doc: "Of growth: compute, communication, copies or idle time, whichever grows most. Else null."}
  - {name: part_ns, type: duration, unit: ns, label: "part grows by", priority: 1, doc: "Of growth: by how much the part of a step grew, as the difference of the means of both quarters. Else null."}
  - {name: kernel_name, type: text, label: "kernel", priority: 1, doc: "If compute grows: function name of the kernel that grew most. Else null."}
  - {name: kernel_ns, type: duration, unit: ns, label: "kernel grows by", priority: 1, doc: "By how much its time in a step grew. Else null."}
  - {name: global_tid, type: id, priority: 3, doc: "Thread whose steps these are, unique across hosts and VMs."}
checks:
  - times > 1
limits: >-
  A kernel counts for alike_pct if its time grew by the factor, give or take 5 %. Kernels with the same grid and about as many calls
  in a step must have 98 % of the kernel time: else the work changed. Another process on the GPU can slow all
  kernels equally, too. Steps with other work do not count.
see_also: [steps, iterations, gpu_clocks]
---*/
WITH
step AS MATERIALIZED (
  SELECT
    win.gpu_id,
    win.device_id,
    win.pid,
    win.tid,
    win.step,
    win.op_count,
    win.start_ns,
    win.end_ns,
    win.dur_ns,
    gpu.compute_ns,
    gpu.exposed_communication_ns,
    gpu.exposed_memory_ns,
    gpu.idle_ns,
    row_number() OVER (PARTITION BY win.gpu_id, win.global_tid ORDER BY win.step) AS nth,
    count(*) OVER (PARTITION BY win.gpu_id, win.global_tid) AS step_count,
    win.global_tid
  FROM step_window AS win
  CROSS JOIN gpu_window AS gpu
  WHERE win.part IN ('median', 'steady')
    AND NOT win.has_other_work
    AND gpu.gpu_id = win.gpu_id
    AND gpu.start_ns = win.start_ns
    AND gpu.end_ns = win.end_ns
    AND gpu.window_ns > 0
),
-- Each step as the first slow one.
split AS (
  SELECT
    *,
    avg(compute_ns) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns,
    avg(compute_ns) OVER (in_order ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS after_ns,
    min(start_ns) OVER (PARTITION BY gpu_id, global_tid) AS from_ns,
    max(end_ns) OVER (PARTITION BY gpu_id, global_tid) AS to_ns
  FROM step
  WHERE step_count >= 10
  WINDOW in_order AS (PARTITION BY gpu_id, global_tid ORDER BY nth)
),
best AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY gpu_id, global_tid
      ORDER BY 1.0 * (nth - 1) * (step_count - nth + 1) * (after_ns - before_ns) * (after_ns - before_ns) DESC, nth
    ) AS choice
  FROM split
),
changed AS MATERIALIZED (
  SELECT *
  FROM best
  WHERE choice = 1
    AND nth > 5
    AND step_count - nth >= 4
    AND after_ns BETWEEN 0.95 * :least * before_ns AND 2.1 * before_ns
),
-- Nearly all steps are on their side of the middle, so it is one change.
cut AS MATERIALIZED (
  SELECT
    changed.*,
    CAST(median(iif(step.nth < changed.nth, step.dur_ns, NULL)) AS INTEGER) AS first_ns,
    CAST(median(iif(step.nth >= changed.nth, step.dur_ns, NULL)) AS INTEGER) AS last_ns
  FROM changed
  JOIN step
    ON step.gpu_id = changed.gpu_id
    AND step.global_tid = changed.global_tid
  GROUP BY changed.gpu_id, changed.global_tid
  HAVING 10 * sum((2 * step.compute_ns > changed.before_ns + changed.after_ns) <> (step.nth >= changed.nth)) <= count(*)
    AND abs(
      avg(iif(step.nth < changed.nth, step.op_count, NULL)) - avg(iif(step.nth >= changed.nth, step.op_count, NULL))
    ) <= 0.02 * avg(step.op_count)
    -- A jump: neither side grows by itself, and the last steps are slow.
    AND 4 * abs(
      avg(iif(2 * step.nth < changed.nth, step.compute_ns, NULL))
        - avg(iif(step.nth < changed.nth AND 2 * step.nth >= changed.nth, step.compute_ns, NULL))
    ) <= changed.after_ns - changed.before_ns
    AND 4 * abs(
      avg(iif(step.nth >= changed.nth AND 2 * step.nth < changed.nth + changed.step_count, step.compute_ns, NULL))
        - avg(iif(2 * step.nth >= changed.nth + changed.step_count, step.compute_ns, NULL))
    ) <= changed.after_ns - changed.before_ns
    AND sum(step.nth > changed.step_count - 3 AND 2 * step.compute_ns < changed.before_ns + changed.after_ns) = 0
),
paced AS MATERIALIZED (
  SELECT
    cut.gpu_id,
    cut.global_tid,
    kernel.name_id,
    1.0 * sum(kernel.start_ns < cut.start_ns) / (cut.nth - 1) AS calls_before,
    1.0 * sum(kernel.start_ns >= cut.start_ns) / (cut.step_count - cut.nth + 1) AS calls_after,
    avg(iif(kernel.start_ns < cut.start_ns, kernel.dur_ns, NULL)) AS before_ns,
    avg(iif(kernel.start_ns >= cut.start_ns, kernel.dur_ns, NULL)) AS after_ns,
    sum(iif(kernel.start_ns >= cut.start_ns, kernel.dur_ns, 0)) AS total_ns
  FROM cut
  CROSS JOIN kernel
  WHERE kernel.pid IS NOT DISTINCT FROM cut.pid
    AND kernel.device_id = cut.device_id
    AND kernel.start_ns >= cut.from_ns
    AND kernel.start_ns < cut.to_ns
  GROUP BY
    cut.gpu_id,
    cut.global_tid,
    kernel.name_id,
    kernel.grid_x,
    kernel.grid_y,
    kernel.grid_z,
    kernel.block_x * kernel.block_y * kernel.block_z
),
-- Collectives wait, so their time says nothing about the clock.
computed AS MATERIALIZED (
  SELECT
    *,
    10 * abs(calls_after - calls_before) <= calls_before AS is_same
  FROM paced
  WHERE name_id NOT IN (
      SELECT string_id
      FROM string
      WHERE string_id IN (SELECT name_id FROM paced)
        AND op_activity(text) <> 'compute'
    )
),
factor AS MATERIALIZED (
  SELECT gpu_id, global_tid, sum(total_ns) / sum(total_ns / after_ns * before_ns) AS times
  FROM computed
  WHERE is_same
  GROUP BY gpu_id, global_tid
),
slowed AS MATERIALIZED (
  SELECT
    factor.gpu_id,
    factor.global_tid,
    factor.times,
    100.0 * sum(
      iif(
        computed.is_same AND computed.after_ns BETWEEN 0.95 * factor.times * computed.before_ns
          AND 1.05 * factor.times * computed.before_ns,
        computed.total_ns,
        0
      )
    ) / sum(computed.total_ns) AS alike_pct
  FROM factor
  JOIN computed
    ON computed.gpu_id = factor.gpu_id
    AND computed.global_tid = factor.global_tid
  WHERE factor.times BETWEEN :least AND 2
  GROUP BY factor.gpu_id, factor.global_tid
  -- Larger inputs show in the grid of some kernel, though not of one that fills the GPU once.
  HAVING sum(iif(computed.is_same, computed.total_ns, 0)) >= 0.98 * sum(computed.total_ns)
    -- One kernel with more work is no clock: others must be slower, too.
    AND max(computed.total_ns) <= 0.6 * sum(computed.total_ns)
    AND sum(
      computed.is_same AND computed.after_ns BETWEEN 0.95 * factor.times * computed.before_ns
        AND 1.05 * factor.times * computed.before_ns
    ) >= 0.8 * count(*)
),
clock AS MATERIALIZED (
  SELECT cut.gpu_id, cut.global_tid, cut.step, slowed.times, slowed.alike_pct, cut.first_ns, cut.last_ns
  FROM slowed
  JOIN cut
    ON cut.gpu_id = slowed.gpu_id
    AND cut.global_tid = slowed.global_tid
  WHERE slowed.alike_pct >= 80
),
quarter AS (
  SELECT *, (4 * (nth - 1)) / step_count AS part
  FROM step
  WHERE step_count >= 12
),
quartered AS MATERIALIZED (
  SELECT
    gpu_id,
    global_tid,
    pid,
    device_id,
    median(iif(part = 0, dur_ns, NULL)) AS first_ns,
    median(iif(part = 1, dur_ns, NULL)) AS second_ns,
    median(iif(part = 2, dur_ns, NULL)) AS third_ns,
    median(iif(part = 3, dur_ns, NULL)) AS last_ns,
    sum(part = 0) AS first_count,
    sum(part = 3) AS last_count,
    min(start_ns) AS from_ns,
    max(iif(part = 0, end_ns, NULL)) AS first_end_ns,
    min(iif(part = 3, start_ns, NULL)) AS last_start_ns,
    max(end_ns) AS to_ns,
    avg(iif(part = 0, op_count, NULL)) AS first_ops,
    avg(iif(part = 3, op_count, NULL)) AS last_ops,
    avg(iif(part = 3, compute_ns, NULL)) - avg(iif(part = 0, compute_ns, NULL)) AS compute_ns,
    avg(iif(part = 3, exposed_communication_ns, NULL))
      - avg(iif(part = 0, exposed_communication_ns, NULL)) AS communication_ns,
    avg(iif(part = 3, exposed_memory_ns, NULL)) - avg(iif(part = 0, exposed_memory_ns, NULL)) AS copies_ns,
    avg(iif(part = 3, idle_ns, NULL)) - avg(iif(part = 0, idle_ns, NULL)) AS idle_ns
  FROM quarter
  GROUP BY gpu_id, global_tid
),
-- Each quarter adds to the growth: a single change is none.
growing AS MATERIALIZED (
  SELECT *
  FROM quartered
  WHERE last_ns >= :grown * first_ns
    AND min(second_ns - first_ns, third_ns - second_ns, last_ns - third_ns) >= 0.15 * (last_ns - first_ns)
    AND abs(last_ops - first_ops) <= 0.02 * first_ops
    AND gpu_id NOT IN (SELECT gpu_id FROM clock)
),
grown_kernel AS MATERIALIZED (
  SELECT gpu_id, global_tid, name_id, kernel_ns, row_number() OVER (
    PARTITION BY gpu_id, global_tid ORDER BY kernel_ns DESC, name_id
  ) AS place
  FROM (
    SELECT
      growing.gpu_id,
      growing.global_tid,
      kernel.short_name_id AS name_id,
      1.0 * sum(iif(kernel.start_ns >= growing.last_start_ns, kernel.dur_ns, 0)) / growing.last_count
        - 1.0 * sum(iif(kernel.start_ns < growing.first_end_ns, kernel.dur_ns, 0)) / growing.first_count AS kernel_ns
    FROM growing
    CROSS JOIN kernel
    WHERE growing.compute_ns >= max(growing.communication_ns, growing.copies_ns, growing.idle_ns)
      AND kernel.pid IS NOT DISTINCT FROM growing.pid
      AND kernel.device_id = growing.device_id
      AND kernel.start_ns >= growing.from_ns
      AND kernel.start_ns < growing.to_ns
    GROUP BY growing.gpu_id, growing.global_tid, kernel.short_name_id
  )
)
SELECT
  gpu_id,
  'clock' AS kind,
  step,
  times,
  alike_pct,
  first_ns,
  last_ns,
  NULL AS part,
  NULL AS part_ns,
  NULL AS kernel_name,
  NULL AS kernel_ns,
  global_tid
FROM clock
UNION ALL
SELECT
  growing.gpu_id,
  'growth',
  NULL,
  1.0 * growing.last_ns / growing.first_ns,
  NULL,
  CAST(growing.first_ns AS INTEGER),
  CAST(growing.last_ns AS INTEGER),
  CASE max(compute_ns, communication_ns, copies_ns, idle_ns)
    WHEN compute_ns THEN 'compute'
    WHEN idle_ns THEN 'idle time'
    WHEN communication_ns THEN 'communication'
    ELSE 'copies'
  END,
  CAST(max(compute_ns, communication_ns, copies_ns, idle_ns) AS INTEGER),
  (SELECT text FROM string WHERE string_id = grown_kernel.name_id),
  CAST(grown_kernel.kernel_ns AS INTEGER),
  growing.global_tid
FROM growing
LEFT JOIN grown_kernel
  ON grown_kernel.gpu_id = growing.gpu_id
  AND grown_kernel.global_tid = growing.global_tid
  AND grown_kernel.place = 1
ORDER BY times DESC, gpu_id, global_tid
