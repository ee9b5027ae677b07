/*---
name: iteration_sum
version: 4
title: Iterations of each GPU
summary: Number and time of the iterations of each GPU, with the parts of the median.
why: To see how long an iteration takes, how steady it is, and where its time goes.
kind: sum
tags: [cuda, gpu, nvtx]
internal: true
reads: []
asks: [steps]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: layer_name, type: text, label: "iterations", priority: 0, doc: "Name of the iterations, each number replaced by *; step without a range."}
  - {name: found, type: text, priority: 2, doc: "marked: by NVTX ranges. repeated: by the sequence of launches."}
  - {name: iteration_count, type: int, unit: count, label: "count", priority: 1, doc: "Iterations without the warm-up and without other_count."}
  - {name: warm_up_count, type: int, unit: count, label: "warm-up", priority: 1, doc: "Iterations of the warm-up, which no other column counts."}
  - {name: other_count, type: int, unit: count, label: "with other work", priority: 2, doc: "Iterations after the warm-up that launch other work, too, such as an evaluation."}
  - {name: other_max_ns, type: duration, unit: ns, label: "longest of these", priority: 2, doc: "Time of the longest of other_count; null without one."}
  - {name: other_ns, type: duration, unit: ns, label: "all of these", priority: 3, doc: "Sum of the times of other_count; null without one."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Time of the median iteration."}
  - {name: min_ns, type: duration, unit: ns, priority: 1, doc: "Time of the fastest of iteration_count."}
  - {name: max_ns, type: duration, unit: ns, priority: 1, doc: "Time of the slowest of iteration_count."}
  - {name: slowest, type: int, priority: 2, doc: "Number of the slowest iteration, the first one if several tie."}
  - {name: median_iteration, type: int, label: "median step", priority: 2, doc: "Number of the median iteration."}
  - {name: median_name, type: text, label: "range of the median", priority: 3, doc: "Name of its range."}
  - {name: compute_ns, type: duration, unit: ns, priority: 3, doc: "Time of the median iteration in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, priority: 3, doc: "Time of the median iteration in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 3, doc: "Time of the median iteration in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 3, doc: "Time of the median iteration in which nothing ran."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute % of median", priority: 1, doc: "compute_ns as a share of median_ns."}
  - {name: exposed_communication_pct, type: percent, unit: percent, label: "exposed comm. % of median", priority: 1, doc: "exposed_communication_ns as a share of median_ns."}
  - {name: exposed_memory_pct, type: percent, unit: percent, label: "exposed copies % of median", priority: 1, doc: "exposed_memory_ns as a share of median_ns."}
  - {name: idle_pct, type: percent, unit: percent, label: "idle % of median", priority: 1, doc: "idle_ns as a share of median_ns."}
  - {name: steady_ns, type: duration, unit: ns, label: "all together", priority: 3, doc: "Sum of the times of all iterations, also of other_count."}
  - {name: repeat_count, type: int, unit: count, label: "repeats", priority: 3, doc: "Repeats of the launch sequence that begin in each iteration, as in steps; null if no sequence repeats, or not equally often in all of iteration_count."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system ID of the thread."}
checks:
  - iteration_count > 0 AND min_ns <= median_ns AND median_ns <= max_ns
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = median_ns
when_empty: no NVTX range looks like an iteration, and no sequence of launches repeats; range_names lists the names
limits: >-
  See steps, whose rows it sums. A GPU on which several threads run iterations has a row for each thread. With
  an even number of iterations, the median is the shorter of the two in the middle.
see_also: [steps, iterations, gpu_time]
---*/
WITH
steady AS (
  SELECT
    *,
    -- The median stands for all.
    has_other_work AND part <> 'median' AS is_other,
    row_number() OVER (
      PARTITION BY gpu_id, pid, tid
      ORDER BY has_other_work AND part <> 'median', dur_ns DESC, step
    ) AS slow_rank
  FROM steps
  WHERE part IN ('median', 'steady')
    AND (step_count > 1 OR is_only)
),
total AS (
  SELECT
    gpu_id,
    pid,
    tid,
    count(*) FILTER (WHERE NOT is_other) AS iteration_count,
    sum(is_other) AS other_count,
    max(iif(is_other, dur_ns, NULL)) AS other_max_ns,
    sum(iif(is_other, dur_ns, NULL)) AS other_ns,
    min(iif(is_other, NULL, dur_ns)) AS min_ns,
    max(iif(is_other, NULL, dur_ns)) AS max_ns,
    sum(dur_ns) AS steady_ns,
    max(iif(slow_rank = 1, step, NULL)) AS slowest,
    min(iif(is_other, NULL, repeat_count)) AS least_repeats,
    max(iif(is_other, NULL, repeat_count)) AS most_repeats
  FROM steady
  GROUP BY gpu_id, pid, tid
)
SELECT
  total.gpu_id,
  middle.layer_name,
  middle.found,
  total.iteration_count,
  (
    SELECT count(*)
    FROM steps AS warm
    WHERE warm.part = 'warm-up'
      AND warm.gpu_id = total.gpu_id
      AND warm.pid = total.pid
      AND warm.tid IS NOT DISTINCT FROM total.tid
  ) AS warm_up_count,
  total.other_count,
  total.other_max_ns,
  total.other_ns,
  middle.dur_ns AS median_ns,
  total.min_ns,
  total.max_ns,
  total.slowest,
  middle.step AS median_iteration,
  middle.step_name AS median_name,
  middle.compute_ns,
  middle.exposed_communication_ns,
  middle.exposed_memory_ns,
  middle.idle_ns,
  100.0 * middle.compute_ns / middle.dur_ns AS compute_pct,
  100.0 * middle.exposed_communication_ns / middle.dur_ns AS exposed_communication_pct,
  100.0 * middle.exposed_memory_ns / middle.dur_ns AS exposed_memory_pct,
  100.0 * middle.idle_ns / middle.dur_ns AS idle_pct,
  total.steady_ns,
  iif(total.least_repeats = total.most_repeats, total.most_repeats, NULL) AS repeat_count,
  total.pid,
  total.tid
FROM total
JOIN steady AS middle
  ON middle.gpu_id = total.gpu_id
  AND middle.pid = total.pid
  AND middle.tid IS NOT DISTINCT FROM total.tid
  AND middle.part = 'median'
ORDER BY total.gpu_id, total.pid, total.tid
