/*---
name: work_functions
version: 1
title: Python function of the host's work
summary: The Python function in which the launching thread works while the GPUs idle.
why: To name the line of each work of the host, where a function that also waits for the GPU has it, or a smaller one.
kind: info
internal: true
tags: [gpu]
reads: [all_python_frame, compute_gap_part, gpu_window, operator_gap, outside_wait]
requires: [all_python_frame, compute_gap_part]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE 50 * idle_ns >= window_ns)
params:
  - {name: least_gap, type: duration, default: 500us, min: 0, doc: "Shortest gap to count, as in host_work."}
  - {name: least, type: duration, default: 100us, min: 0, doc: "Shortest call to count."}
columns:
  - {name: is_apart, type: bool, label: "without loading", priority: 1, doc: "Whether calls of PyTorch's data loader are left out: then it is the other work of the host."}
  - {name: place, type: text, label: "function", priority: 0, doc: "FILE(LINE): FUNCTION, with the line where the function begins: of those with half of this time, the one that takes least time."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Its calls that overlap this time."}
  - {name: total_ns, type: duration, unit: ns, label: "in it", priority: 1, doc: "Idle time in its calls with the thread outside CUDA, in long gaps."}
  - {name: work_pct, type: percent, unit: percent, label: "% of this time", priority: 0, doc: "total_ns as a share of this time of all functions."}
checks:
  - total_ns > 0
limits: >-
  Only the thread counts that works most. A function counts if it has half of this time, and either nearly nothing else, or a
  larger share of this time, by half, than of the whole time. Functions of PyTorch count only in torch/cuda, torch/optim and torch/utils/data.
see_also: [host_work, idle_functions]
---*/
WITH
gap AS MATERIALIZED (
  SELECT global_tid, start_ns, end_ns
  FROM compute_gap_part
  WHERE part = 'outside CUDA API'
    AND gap_ns >= :least_gap
    AND (gpu_id, gap_start_ns) NOT IN (SELECT gpu_id, gap_start_ns FROM operator_gap)
),
thread AS MATERIALIZED (
  SELECT global_tid
  FROM gap
  GROUP BY global_tid
  ORDER BY sum(end_ns - start_ns) DESC, global_tid
  LIMIT 1
),
-- See host_work: no function of the program takes waits for requests, other processes or a time.
work AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY part.start_ns, part.end_ns) AS part_id, part.start_ns, part.end_ns
  FROM split_spans(
    (
      SELECT time_spans(0, start_ns, start_ns, end_ns)
      FROM gap
      WHERE global_tid = (SELECT global_tid FROM thread)
    ),
    (
      SELECT time_spans_apart(0, call_id, start_ns, end_ns)
      FROM outside_wait
      WHERE global_tid = (SELECT global_tid FROM thread)
    )
  ) AS part
  WHERE part.by_id IS NULL
    AND part.end_ns > part.start_ns
),
win AS MATERIALIZED (
  SELECT max(window_ns) AS window_ns, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM gpu_window
),
called AS MATERIALIZED (
  SELECT
    frame.frame_id,
    frame.file_name || '(' || frame.line || '): ' || frame.function_name AS place,
    frame.start_ns,
    frame.end_ns,
    coalesce(frame.file_name GLOB '*torch/utils/data/*', 0) AS is_loading,
    frame.is_torch
  FROM win
  JOIN all_python_frame AS frame
    ON frame.start_ns < win.end_ns
    AND frame.end_ns > win.start_ns
  WHERE EXISTS (SELECT 1 FROM work)
    AND frame.global_tid = (SELECT global_tid FROM thread)
    AND frame.is_program
    AND frame.end_ns - frame.start_ns >= :least
),
-- All work, and what is left without the data loader.
counted AS MATERIALIZED (
  SELECT 0 AS is_apart, start_ns, end_ns
  FROM work
  UNION ALL
  SELECT 1, part.start_ns, part.end_ns
  FROM split_spans(
    (SELECT time_spans(0, part_id, start_ns, end_ns) FROM work),
    (SELECT time_spans_apart(0, frame_id, start_ns, end_ns) FROM called WHERE is_loading)
  ) AS part
  WHERE part.by_id IS NULL
    AND EXISTS (SELECT 1 FROM called WHERE is_loading)
),
total AS MATERIALIZED (
  SELECT is_apart, sum(end_ns - start_ns) AS work_ns
  FROM counted
  GROUP BY is_apart
),
shared AS (
  SELECT
    total.is_apart,
    called.place,
    min(called.end_ns, win.end_ns) - max(called.start_ns, win.start_ns) AS dur_ns,
    coalesce(
      overlap_ns(
        (SELECT time_set(is_apart, start_ns, end_ns) FROM counted),
        total.is_apart,
        called.start_ns,
        called.end_ns
      ),
      0
    ) AS work_ns
  FROM total
  CROSS JOIN called
  CROSS JOIN win
),
named AS (
  SELECT
    shared.is_apart,
    shared.place,
    sum(shared.work_ns > 0) AS call_count,
    min(sum(shared.work_ns), max(total.work_ns)) AS total_ns,
    100.0 * min(sum(shared.work_ns), max(total.work_ns)) / max(total.work_ns) AS work_pct,
    row_number() OVER (PARTITION BY shared.is_apart ORDER BY sum(shared.dur_ns), shared.place) AS nth
  FROM shared
  JOIN total
    ON total.is_apart = shared.is_apart
  CROSS JOIN win
  GROUP BY shared.is_apart, shared.place
  HAVING 2 * sum(shared.work_ns) >= max(total.work_ns)
    AND (
      10 * sum(shared.work_ns) >= 9 * sum(shared.dur_ns)
      OR 1.0 * sum(shared.work_ns) / max(total.work_ns) >= 1.5 * sum(shared.dur_ns) / max(win.window_ns)
    )
)
SELECT is_apart, place, call_count, total_ns, work_pct
FROM named
WHERE nth = 1
ORDER BY is_apart
