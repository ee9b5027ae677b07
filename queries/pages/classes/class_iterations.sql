/*---
name: class_iterations
version: 2
title: Iterations and GPUs of each report
summary: Iterations, processes and GPUs of each report, by which its sums are divided.
why: To compare runs that captured different numbers of iterations.
kind: info
tags: [classes, cuda, gpu, nvtx]
internal: true
reads: []
asks: [class_capture, class_windows, iteration_ranges]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: iterations, type: real, unit: count, priority: 1, doc: "Iterations of one process; null if not detected."}
  - {name: window_count, type: int, unit: count, label: "windows", priority: 1, doc: "Tagged ranges of all processes; 0 without a tag."}
  - {name: process_count, type: int, unit: count, label: "processes", priority: 1, doc: "Processes with tagged ranges; at least 1."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 1, doc: "The GPUs given; else those with windows, with kernels, or one per process."}
  - {name: found_gpus, type: int, unit: count, label: "GPUs with work", priority: 3, doc: "GPUs with windows, or with kernels; null if not known."}
  - {name: divisor, type: int, unit: count, priority: 3, doc: "A sum over all GPUs, times multiplier, divided by this is its value per iteration and GPU; null if the iterations are not detected."}
  - {name: multiplier, type: int, unit: count, priority: 3, doc: "See divisor: 1, unless processes have different numbers of ranges."}
  - {name: windows_ns, type: duration, unit: ns, label: "windows, summed", priority: 1, doc: "Sum of the spans of the tagged ranges."}
  - {name: gpu_windows_ns, type: duration, unit: ns, label: "windows on GPUs", priority: 1, doc: "windows_ns with the ranges of a process counted once for each of its GPUs."}
  - {name: overlap_ns, type: duration, unit: ns, label: "overlap", doc: "Time that tagged ranges of a process share; null if their starts are unknown."}
  - {name: heading, type: text, priority: 3, doc: "The iterations in words, such as 5 iterations of `step` on 2 GPUs."}
checks:
  - window_count >= 0 AND process_count >= 1 AND gpu_count >= 1
  - divisor > 0 AND multiplier > 0
limits: >-
  Without a tag and a number, the iterations are the steps of the query steps, if little else was captured; --steady leaves
  only them. A window of a process counts for all GPUs of the capture, divided by the number of processes. Iterations that differ
  in length or work make no difference.
see_also: [class_figures, class_notes, iterations]
---*/
WITH RECURSIVE
ranged AS (
  SELECT
    side,
    count(*) AS window_count,
    max(count(DISTINCT pid), 1) AS process_count,
    sum(dur_ns) AS windows_ns,
    count(start_ns) = count(*) AS has_starts
  FROM iteration_ranges
  GROUP BY side
),
reached AS (
  SELECT
    side,
    start_ns,
    start_ns + dur_ns AS end_ns,
    max(start_ns + dur_ns) OVER (
      PARTITION BY side, pid
      ORDER BY start_ns, start_ns + dur_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM iteration_ranges
),
overlapping AS (
  SELECT side, sum(max(min(reached_ns, end_ns) - start_ns, 0)) AS overlap_ns
  FROM reached
  GROUP BY side
),
measured AS (
  SELECT side, count(DISTINCT gpu_id) AS gpu_count
  FROM class_windows
  GROUP BY side
),
found AS (
  SELECT
    capture.*,
    coalesce(ranged.window_count, 0) AS window_count,
    coalesce(ranged.process_count, 1) AS process_count,
    coalesce(ranged.windows_ns, 0) AS windows_ns,
    iif(ranged.has_starts, coalesce(overlapping.overlap_ns, 0), NULL) AS overlap_ns,
    coalesce(measured.gpu_count, nullif(capture.gpu_count, 0)) AS found_gpus,
    -- A tag says that only its ranges are iterations.
    iif(capture.tag IS NULL AND capture.has_only_steps, capture.step_count, NULL) AS whole_steps
  FROM class_capture AS capture
  LEFT JOIN ranged USING (side)
  LEFT JOIN overlapping USING (side)
  LEFT JOIN measured USING (side)
),
counted AS (
  SELECT
    *,
    coalesce(given_gpus, found_gpus, process_count) AS gpus,
    coalesce(given_iterations, nullif(window_count, 0), whole_steps) AS range_count,
    iif(given_iterations IS NULL AND window_count > 0, process_count, 1) AS ranges_per_iteration
  FROM found
),
-- Euclid's algorithm: the last a is the greatest common divisor.
shared (side, a, b) AS (
  SELECT side, range_count * gpus, ranges_per_iteration
  FROM counted
  -- A product of more than 64 bits is no integer.
  WHERE typeof(range_count * gpus) = 'integer'
  UNION ALL
  SELECT side, b, a % b
  FROM shared
  WHERE b > 0
)
SELECT
  counted.report,
  counted.side,
  1.0 * range_count / ranges_per_iteration AS iterations,
  window_count,
  process_count,
  gpus AS gpu_count,
  found_gpus,
  range_count * gpus / shared.a AS divisor,
  ranges_per_iteration / shared.a AS multiplier,
  windows_ns,
  CAST((windows_ns * coalesce(found_gpus, gpus) + process_count / 2) / process_count AS INTEGER) AS gpu_windows_ns,
  overlap_ns,
  CASE
    WHEN range_count IS NULL THEN 'GPU time, iteration count not detected'
    WHEN range_count % ranges_per_iteration > 0
      THEN printf('%.2f iterations', 1.0 * range_count / ranges_per_iteration)
    ELSE (range_count / ranges_per_iteration)
      || iif(range_count = ranges_per_iteration, ' iteration', ' iterations')
  END
    || CASE
      WHEN window_count > 0 THEN coalesce(' of `' || tag || '`', '')
      WHEN given_iterations IS NULL AND whole_steps > 0
        THEN iif(step_found = 'marked', ' (steps marked by ranges)', ' (steps found by repetition)')
      ELSE ''
    END
    || printf(' on %d GPU%s', gpus, iif(gpus = 1, '', 's'))
    || iif(process_count > 1, printf(' in %d processes', process_count), '') AS heading
FROM counted
LEFT JOIN shared
  ON shared.side = counted.side
  AND shared.b = 0
ORDER BY counted.side
