/*---
name: class_figures
version: 1
title: GPU time by class, per iteration
summary: GPU time by class, per iteration and GPU, with exposed and idle time.
why: To see where the time of an iteration goes, and to compare it between runs.
kind: sum
tags: [classes, cuda, gpu, kernel, memory, nvtx]
internal: true
reads: []
asks: [class_capture, class_iterations, class_sums, class_windows]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
columns:
  - {name: input, type: text, priority: 0, doc: "Heading of the input."}
  - {name: section, type: text, priority: 0, doc: "Section of the row: total, kernel, communication, memory, estimate or measured."}
  - {name: class, type: text, priority: 0, doc: "Class of kernels, operation, or part of the iterations."}
  - {name: gpu_id, type: id, label: "GPU", doc: "GPU number on its machine; null except in the section measured."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of durations; in the section measured, overlapped time counts once."}
  - {name: share_pct, type: percent, unit: percent, label: "share", priority: 1, doc: "Share of total_ns in the whole that share_of names; null for a whole itself."}
  - {name: share_of, type: text, label: "of", doc: "The whole that share_pct is a share of."}
  - {name: count, type: int, unit: count, doc: "Number of kernels, operations or windows."}
  - {name: per_iteration_ns, type: duration, unit: ns, doc: "Time per iteration and GPU; null if the iteration count is not detected."}
  - {name: count_per_iteration, type: real, unit: count, priority: 3, doc: "Kernels or operations per iteration and GPU; null if the iteration count is not detected."}
  - {name: side, type: int, priority: 3, doc: "Position of the input, from 0."}
checks:
  - section <> 'measured' OR gpu_id IS NOT NULL
limits: >-
  Sums of durations count overlapped time several times; the sections estimate and measured show how much. Which work
  counts depends on the scope, and the notes of class_notes explain how that affects the figures.
see_also: [class_notes, class_side_by_side, class_sum, gpu_time_by_range]
---*/
WITH
kind (section, activity, rank, share_of) AS (
  VALUES
    ('kernel', 'compute', 1, 'compute kernels'),
    ('communication', 'communication', 2, 'communication'),
    ('memory', 'memory', 3, 'memory operations')
),
total AS (
  SELECT
    capture.side,
    kind.*,
    coalesce(sum(total_ns), 0) AS total_ns,
    coalesce(sum(count), 0) AS count
  FROM class_capture AS capture
  CROSS JOIN kind
  LEFT JOIN class_sums AS sums
    ON sums.side = capture.side
    AND sums.section = kind.section
  WHERE kind.section <> 'memory'
    OR capture.has_memory
  GROUP BY capture.side, kind.section
),
computed AS (
  SELECT side, total_ns AS compute_ns
  FROM total
  WHERE section = 'kernel'
),
measured AS (
  SELECT
    side,
    gpu_id,
    count(*) AS window_count,
    sum(window_ns) AS window_ns,
    sum(compute_ns) AS compute_ns,
    sum(exposed_communication_ns) AS exposed_communication_ns,
    sum(exposed_memory_ns) AS exposed_memory_ns,
    sum(idle_ns) AS idle_ns
  FROM class_windows
  GROUP BY side, gpu_id
),
part (place, class) AS (
  VALUES (1, 'window'), (2, 'compute'), (3, 'exposed communication'), (4, 'exposed memory'), (5, 'idle')
),
summed AS (
  SELECT
    side,
    0 AS section_rank,
    'total' AS section,
    total.rank AS place,
    activity AS class,
    total_ns,
    sum(total_ns) OVER (PARTITION BY side) AS whole_ns,
    'kernels and copies, summed' AS share_of,
    count
  FROM total
  UNION ALL
  SELECT
    sums.side,
    total.rank AS section_rank,
    sums.section,
    0 AS place,
    sums.class,
    sums.total_ns,
    total.total_ns AS whole_ns,
    total.share_of,
    sums.count
  FROM class_sums AS sums
  JOIN total
    ON total.side = sums.side
    AND total.section = sums.section
),
-- Divided by the ranges found, not by the number of iterations given: the first row is the sum of the next two.
estimated AS (
  SELECT
    iteration.side,
    part.place,
    CASE part.place WHEN 1 THEN 'window' WHEN 2 THEN 'compute, summed' ELSE 'not compute' END AS class,
    CASE part.place
      WHEN 1 THEN gpu_windows_ns
      WHEN 2 THEN compute_ns
      ELSE gpu_windows_ns - compute_ns
    END AS total_ns,
    gpu_windows_ns AS whole_ns,
    1.0 * windows_ns / window_count AS mean_ns,
    window_count
  FROM class_iterations AS iteration
  JOIN computed USING (side)
  JOIN part
    ON part.place <= 3
  WHERE window_count > 0
),
figure AS (
  SELECT
    side,
    section_rank,
    section,
    NULL AS gpu_id,
    place,
    class,
    total_ns,
    whole_ns,
    share_of,
    count,
    CAST(total_ns * multiplier AS REAL) / divisor AS per_iteration_ns,
    CAST(count * multiplier AS REAL) / divisor AS count_per_iteration
  FROM summed
  JOIN class_iterations USING (side)
  UNION ALL
  SELECT
    side,
    4 AS section_rank,
    'estimate' AS section,
    NULL AS gpu_id,
    place,
    class,
    total_ns,
    iif(place > 1, whole_ns, NULL) AS whole_ns,
    iif(place > 1, 'windows', NULL) AS share_of,
    iif(place = 1, window_count, NULL) AS count,
    iif(place = 1, mean_ns, total_ns * mean_ns / nullif(whole_ns, 0)) AS per_iteration_ns,
    NULL AS count_per_iteration
  FROM estimated
  UNION ALL
  SELECT
    side,
    4 AS section_rank,
    'estimate' AS section,
    NULL AS gpu_id,
    4 AS place,
    'not compute, measured' AS class,
    sum(measured.window_ns - compute_ns) AS total_ns,
    sum(measured.window_ns) AS whole_ns,
    'windows, measured' AS share_of,
    NULL AS count,
    1.0 * sum(measured.window_ns - compute_ns) / sum(measured.window_count) AS per_iteration_ns,
    NULL AS count_per_iteration
  FROM measured
  JOIN class_iterations AS iteration USING (side)
  WHERE iteration.window_count > 0
  GROUP BY side
  UNION ALL
  SELECT
    side,
    5 AS section_rank,
    'measured' AS section,
    gpu_id,
    place,
    part.class,
    part_ns AS total_ns,
    iif(place > 1, window_ns, NULL) AS whole_ns,
    CASE
      WHEN place = 1 THEN NULL
      WHEN iteration.window_count > 0 THEN 'windows on this GPU'
      ELSE 'first to last operation'
    END AS share_of,
    iif(place = 1, measured_count, NULL) AS count,
    part_ns / iif(iteration.window_count > 0, 1.0 * measured_count, iteration.iterations) AS per_iteration_ns,
    NULL AS count_per_iteration
  FROM (
    SELECT
      side,
      gpu_id,
      part.place,
      part.class,
      window_ns,
      measured.window_count AS measured_count,
      CASE part.place
        WHEN 1 THEN window_ns
        WHEN 2 THEN compute_ns
        WHEN 3 THEN exposed_communication_ns
        WHEN 4 THEN exposed_memory_ns
        ELSE idle_ns
      END AS part_ns
    FROM measured
    CROSS JOIN part
  ) AS part
  JOIN class_iterations AS iteration USING (side)
)
SELECT
  capture.report AS input,
  section,
  class,
  gpu_id,
  total_ns,
  100.0 * total_ns / nullif(whole_ns, 0) AS share_pct,
  share_of,
  count,
  per_iteration_ns,
  count_per_iteration,
  side
FROM figure
JOIN class_capture AS capture USING (side)
ORDER BY side, section_rank, gpu_id, place, total_ns DESC, count DESC, class
