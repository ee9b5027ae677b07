/*---
name: class_notes
version: 1
title: Notes on the figures by class
summary: Sentences about what the figures of a report leave out, or count twice.
why: To know how far to trust the figures of class_figures.
kind: info
tags: [classes, cuda, gpu, kernel, nvtx]
internal: true
reads: []
asks: [class_capture, class_iterations, class_sums, class_windows, cuda_gpu_kern_sum]
across: true
params:
  - {name: tag, type: text, doc: "GLOB pattern for the names of the ranges that are iterations."}
  - {name: iterations, type: int, min: 1, doc: "Number of iterations; the number of tagged ranges per process if not set."}
  - {name: gpus, type: int, min: 1, doc: "Number of GPUs; the number of GPUs with work if not set."}
  - {name: tagged_only, type: bool, default: false, doc: "Whether the scope leaves only work that the tagged ranges launched, as with --iter."}
  - {name: memory, type: bool, default: true, doc: "Count copies and fills."}
  - {name: overlaps, type: bool, default: true, doc: "List which kernels match rules of several classes."}
  - {name: seed, type: bool, default: false, doc: "List what ends the tools before nsq with an error, instead of notes on class_figures."}
columns:
  - {name: report, type: text, priority: 0, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
  - {name: note, type: text, priority: 1, doc: "The note, a sentence."}
when_empty: "there is nothing to note about these figures"
limits: >-
  A note describes what the figures can hide, not how large the effect is on a share.
see_also: [class_figures, class_iterations, kernel_classes]
---*/
WITH
total AS (
  SELECT
    side,
    coalesce(sum(total_ns) FILTER (WHERE section = 'kernel'), 0) AS compute_ns,
    coalesce(sum(total_ns) FILTER (WHERE section <> 'memory'), 0) AS kernel_ns,
    coalesce(sum(count) FILTER (WHERE section <> 'memory'), 0) AS kernel_count
  FROM class_sums
  GROUP BY side
),
measured AS (
  SELECT side, sum(window_ns) AS window_ns, sum(compute_ns) AS busy_ns
  FROM class_windows
  GROUP BY side
),
about AS (
  SELECT
    iteration.*,
    capture.given_iterations,
    capture.given_gpus,
    capture.tag,
    capture.tagged_only,
    capture.by_thread,
    capture.outside_count,
    capture.kernel_count - coalesce(total.kernel_count, 0) AS lost_count,
    capture.kernel_ns - coalesce(total.kernel_ns, 0) AS lost_ns,
    capture.kernel_count,
    capture.kernel_ns,
    coalesce(total.compute_ns, 0) AS compute_ns,
    gpu_windows_ns - coalesce(total.compute_ns, 0) AS rest_ns,
    measured.window_ns,
    measured.busy_ns
  FROM class_iterations AS iteration
  JOIN class_capture AS capture USING (side)
  LEFT JOIN total USING (side)
  LEFT JOIN measured USING (side)
),
ambiguous AS (
  SELECT
    side,
    total_ns,
    printf(
      '`%s` is %s and also matches %s',
      substr(kernel_name, 1, 80) || iif(length(kernel_name) > 80, '…', ''),
      op_class(kernel_name),
      op_class_others(kernel_name)
    ) AS text
  FROM cuda_gpu_kern_sum
  WHERE :overlaps
    AND collective(kernel_name) IS NULL
    AND op_class_others(kernel_name) IS NOT NULL
),
largest AS (
  SELECT
    side,
    count(*) OVER (PARTITION BY side) AS name_count,
    sum(total_ns) OVER (PARTITION BY side) AS total_ns,
    text,
    row_number() OVER (PARTITION BY side ORDER BY total_ns DESC, text) AS nth
  FROM ambiguous
),
uneven AS (
  SELECT side, group_concat(class, ', ') AS classes
  FROM (
    SELECT iteration.side, class
    FROM class_sums AS sums
    JOIN class_iterations AS iteration USING (side)
    WHERE section <> 'memory'
      AND count * multiplier % divisor > 0
    ORDER BY iteration.side, section DESC, first_rank
  )
  GROUP BY side
),
of_seed AS (
  SELECT
    side,
    rowid AS rank,
    coalesce(kernel_name, '') AS kernel_name,
    op_class(coalesce(kernel_name, '')) = 'nccl' AS is_nccl,
    total_ns
  FROM cuda_gpu_kern_sum
  WHERE :seed
),
-- Why the estimate of the time without compute differs from the measurement.
reason (side, rank, text) AS (
  SELECT
    side,
    1,
    printf(
      'the sum includes %.3f ms in which compute kernels overlap or run outside the windows',
      (compute_ns - busy_ns) / 1e6
    )
  FROM about
  WHERE compute_ns > busy_ns
  UNION ALL
  SELECT
    side,
    2,
    printf(
      'compute kernels that the tagged ranges did not launch ran in the windows for %.3f ms',
      (busy_ns - compute_ns) / 1e6
    )
  FROM about
  WHERE compute_ns < busy_ns
  UNION ALL
  SELECT
    side,
    3,
    printf(
      'the windows on the GPUs add up to %.3f ms, those of the ranges to %.3f ms',
      window_ns / 1e6,
      gpu_windows_ns / 1e6
    )
  FROM about
  WHERE window_ns <> gpu_windows_ns
),
note (side, rank, note) AS (
  SELECT
    side,
    1,
    printf(
      '%d of %d kernels (%.3f of %.3f ms) were launched outside the tagged ranges and are left out',
      lost_count,
      kernel_count,
      lost_ns / 1e6,
      kernel_ns / 1e6
    ) || iif(
      by_thread,
      '; --attribute process includes launches from other threads, such as PyTorch''s backward pass',
      ''
    )
  FROM about
  WHERE tagged_only
    AND lost_count > 0
  UNION ALL
  SELECT
    side,
    2,
    printf(
      '%d GPUs have work in the report, but %d were given: figures per iteration use %d',
      found_gpus,
      given_gpus,
      given_gpus
    )
  FROM about
  WHERE found_gpus <> given_gpus
  UNION ALL
  SELECT
    side,
    3,
    printf('the tag occurs %d times in %d processes: their iteration counts differ', window_count, process_count)
  FROM about
  WHERE given_iterations IS NULL
    AND window_count % process_count > 0
  UNION ALL
  SELECT
    side,
    4,
    printf(
      'the tag occurs %d times in %d process%s, but %d iterations were given: figures per iteration are divided by %d, '
        || 'the mean window by %d',
      window_count,
      process_count,
      iif(process_count = 1, '', 'es'),
      given_iterations,
      given_iterations,
      window_count
    )
  FROM about
  WHERE window_count > 0
    AND given_iterations * process_count <> window_count
  UNION ALL
  SELECT
    side,
    5,
    printf(
      '%d processes share %d GPU%s: their windows overlap, so the rest of a window in the estimate is not idle time',
      process_count,
      gpu_count,
      iif(gpu_count = 1, '', 's')
    )
  FROM about
  WHERE process_count > gpu_count
  UNION ALL
  SELECT
    side,
    6,
    printf(
      'the windows overlap by %.3f ms, which is counted twice: an iteration starts before the previous one ends on the '
        || 'GPU, or tagged ranges are nested',
      overlap_ns / 1e6
    )
  FROM about
  WHERE overlap_ns > 0
  UNION ALL
  SELECT
    side,
    7,
    printf(
      '%d kernel %s (%.3f ms) rules of several classes, and the first rule decides; the largest: %s',
      name_count,
      iif(name_count = 1, 'name matches', 'names match'),
      total_ns / 1e6,
      text
    )
  FROM largest
  WHERE nth = 1
  UNION ALL
  SELECT
    side,
    8,
    printf(
      'iterations differ, or the sums include other work: the count is not a multiple of %s for %s',
      divisor || iif(multiplier = 1, '', '/' || multiplier),
      classes
    )
  FROM about
  JOIN uneven USING (side)
  UNION ALL
  SELECT
    side,
    9,
    'compute kernels add up to more than the windows: some run outside the windows or at the same time'
  FROM about
  WHERE window_count > 0
    AND rest_ns < 0
  UNION ALL
  SELECT
    side,
    10,
    'the estimate takes the sum of kernel times as busy time. Sums do not show whether kernels overlap, or how much of '
      || 'the rest is communication, copies or idle: pass the report itself to measure this'
  FROM about
  WHERE window_count > 0
    AND window_ns IS NULL
    AND NOT tagged_only
  UNION ALL
  SELECT
    side,
    11,
    printf(
      'time without compute: estimated %.3f ms, measured %.3f ms: %s',
      rest_ns / 1e6,
      (window_ns - busy_ns) / 1e6,
      (
        SELECT group_concat(text, '; ')
        FROM (SELECT text FROM reason WHERE reason.side = about.side ORDER BY reason.rank)
      )
    )
  FROM about
  WHERE window_count > 0
    AND rest_ns <> window_ns - busy_ns
  UNION ALL
  SELECT
    side,
    12,
    'the sums cover the whole capture' || CASE coalesce(outside_count, 0)
      WHEN 0 THEN ''
      WHEN 1 THEN ', including 1 launch outside all ranges'
      ELSE printf(', including %d launches outside all ranges', outside_count)
    END || ': work outside the tagged ranges makes the estimate too small'
  FROM about
  WHERE window_count > 0
    AND NOT tagged_only
),
seed_note (side, rank, note) AS (
  SELECT
    side,
    rank,
    '`' || kernel_name
      || '` counts as NCCL, but its name has no second part after an underscore: its operation is unknown'
  FROM of_seed
  WHERE is_nccl
    AND instr(kernel_name, '_') = 0
  UNION ALL
  SELECT
    side,
    (SELECT count(*) + 1 FROM of_seed),
    'kernels other than NCCL take 0 ms in total: their shares are not a number'
  FROM about
  WHERE NOT EXISTS (SELECT 1 FROM of_seed WHERE of_seed.side = about.side AND NOT is_nccl AND total_ns > 0)
  UNION ALL
  SELECT
    side,
    (SELECT count(*) + 2 FROM of_seed),
    iif(
      window_count = 0,
      'no tagged range found: the time without kernels cannot be estimated',
      'the tagged ranges take 0 ms in total: shares of that time are not a number'
    )
  FROM about
  WHERE tag IS NOT NULL
    AND windows_ns = 0
)
SELECT
  capture.report,
  note.side,
  note.note
FROM (
  SELECT * FROM note WHERE NOT :seed
  UNION ALL
  SELECT * FROM seed_note WHERE :seed
) AS note
JOIN class_capture AS capture USING (side)
ORDER BY note.side, note.rank
