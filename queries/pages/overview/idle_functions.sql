/*---
name: idle_functions
version: 4
title: Python function in idle time
summary: Python functions in which the launching thread is while the GPUs idle.
why: To name a line of the program where the GPU waits for the host, in a trace with call stacks.
kind: info
internal: true
tags: [gpu]
reads: [all_python_frame, gpu_window, idle_part, outside_wait]
requires: [all_python_frame, idle_part]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE 10 * idle_ns >= window_ns)
params:
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest gap to count."}
columns:
  - {name: nth, type: int, label: "#", priority: 0, doc: "1: the function with half of the idle time. 2: another with a fifth or more, whose calls do not overlap those of the first."}
  - {name: place, type: text, label: "function", priority: 0, doc: "FILE(LINE): FUNCTION, with the line where the function begins: of those with half or a fifth of the idle time, which spend half of their own time in it, the one that takes least time."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Its calls that overlap a gap."}
  - {name: total_ns, type: duration, unit: ns, label: "idle time", priority: 1, doc: "Idle time of the GPUs in its calls, without waits for what sets the pace."}
  - {name: idle_pct, type: percent, unit: percent, label: "% of idle time", priority: 0, doc: "total_ns as a share of the idle time of all GPUs, without these waits."}
checks:
  - total_ns >= 0
limits: >-
  There are no rows where no GPU idles for a tenth of its window. Only the thread counts that launches after most idle
  time. Functions of PyTorch count only in torch/cuda, torch/optim and torch/utils/data, and those of Python that wait
  for threads or processes do not. A function with more than four fifths of the time, and of the time in which GPUs do
  not idle, does not count, unless it is called ten times as often as the function with the most time. The idle time of a function that calls itself is at most its own.
---*/
WITH
thread AS (
  SELECT global_tid
  FROM idle_part
  WHERE gap_ns >= :least
    AND global_tid IS NOT NULL
  GROUP BY global_tid
  ORDER BY sum(dur_ns) DESC, global_tid
  LIMIT 1
),
gap AS MATERIALIZED (
  SELECT start_ns, end_ns
  FROM idle_part
  WHERE gap_ns >= :least
    -- While work is queued, the thread may be anywhere: only the latency of a launch counts.
    AND (part <> 'queued' OR dur_ns < 20000)
    AND global_tid = (SELECT global_tid FROM thread)
),
-- See outside_wait: no function of the program takes this time.
paced AS MATERIALIZED (
  SELECT start_ns, end_ns
  FROM outside_wait
  WHERE global_tid = (SELECT global_tid FROM thread)
),
idle AS MATERIALIZED (
  SELECT
    max(sum(idle_ns) - (SELECT coalesce(sum(end_ns - start_ns), 0) FROM paced), 0) AS idle_ns,
    sum(idle_ns) AS any_idle_ns,
    sum(window_ns) AS window_ns,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM gpu_window
),
called AS MATERIALIZED (
  SELECT
    frame.file_name || '(' || frame.line || '): ' || frame.function_name AS place,
    frame.start_ns,
    frame.end_ns,
    min(frame.end_ns, idle.end_ns) - max(frame.start_ns, idle.start_ns) AS dur_ns,
    overlap_ns((SELECT time_set(start_ns, end_ns) FROM gap), frame.start_ns, frame.end_ns)
      - coalesce(overlap_ns((SELECT time_set(start_ns, end_ns) FROM paced), frame.start_ns, frame.end_ns), 0) AS idle_ns
  FROM idle
  JOIN all_python_frame AS frame
    ON frame.start_ns < idle.end_ns
    AND frame.end_ns > idle.start_ns
  WHERE frame.global_tid = (SELECT global_tid FROM thread)
    AND frame.is_program
),
-- The function with the most time, such as that of a step.
outermost AS MATERIALIZED (
  SELECT count(*) AS call_count
  FROM called
  GROUP BY place
  ORDER BY sum(dur_ns) DESC, call_count, place
  LIMIT 1
),
named AS MATERIALIZED (
  SELECT
    called.place,
    sum(called.idle_ns > 0) AS call_count,
    min(sum(called.idle_ns), max(idle.idle_ns)) AS total_ns,
    100.0 * min(sum(called.idle_ns), max(idle.idle_ns)) / nullif(max(idle.idle_ns), 0) AS idle_pct,
    2 * sum(called.idle_ns) >= max(idle.idle_ns) AS is_half,
    sum(called.dur_ns) AS dur_ns
  FROM called
  CROSS JOIN idle
  GROUP BY called.place
  HAVING 5 * sum(called.idle_ns) >= max(idle.idle_ns)
    AND 2 * sum(called.idle_ns) >= sum(called.dur_ns)
    AND (
      5 * sum(called.dur_ns) <= 4 * max(idle.window_ns)
      OR 5 * (sum(called.dur_ns) - sum(called.idle_ns)) <= 4 * (max(idle.window_ns) - max(idle.any_idle_ns))
      OR count(*) >= 10 * (SELECT call_count FROM outermost)
    )
),
first AS MATERIALIZED (
  SELECT *
  FROM named
  WHERE is_half
  ORDER BY dur_ns, place
  LIMIT 1
),
first_call AS MATERIALIZED (
  SELECT start_ns, end_ns
  FROM called
  WHERE place IN (SELECT place FROM first)
),
-- Another work, which is not a part of the first and does not contain it.
second AS (
  SELECT named.*
  FROM first
  CROSS JOIN named
  JOIN called
    ON called.place = named.place
  WHERE named.place <> first.place
  GROUP BY named.place
  HAVING sum(
      coalesce(
        overlap_ns((SELECT time_set(start_ns, end_ns) FROM first_call), called.start_ns, called.end_ns),
        0
      )
    ) = 0
  ORDER BY named.dur_ns, named.place
  LIMIT 1
)
SELECT 1 AS nth, place, call_count, total_ns, idle_pct
FROM first
UNION ALL
SELECT 2, place, call_count, total_ns, idle_pct
FROM second
ORDER BY nth, place
