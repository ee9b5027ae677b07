/*---
name: slow_iterations
version: 1
title: Slow iterations with more idle time
summary: Idle time of a GPU in slow iterations, above that of the median iteration.
why: To find what single iterations wait for, such as checkpoints, logging or a slow batch.
kind: finding
tags: [cuda, gpu, nvtx]
reads: [gpu_window, idle_part, launch, outside_wait, step]
requires: [gpu_window, idle_part, step]
finding:
  claim: "Slow iterations: some take much longer than the median, and the GPU idles longer in them."
  ceiling: Idle time of these iterations above that of the median iteration, from the end of the GPU work of one iteration to that of the next. Slow iterations at the beginning are warm-up and do not count.
  remedy: >-
    See what the host does in these iterations. Checkpoint, log and evaluate rarely or in another process.
  in_pytorch: >-
    batches of equal length; gc.collect() at fixed steps; if they wait for batches, more DataLoader workers.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  narrows: [host_sync]
  confidence: medium
  frees: idle
params:
  - {name: slower, type: real, default: 1.2, min: 1, doc: "A slow iteration takes at least this many times as long as the median iteration."}
  - {name: iterations, type: int, default: 6, min: 3, doc: "Smallest number of iterations of a thread."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "host", priority: 0, doc: "What the thread that fed the GPU did: the CUDA function, outside CUDA API, queued or unknown."}
  - {name: range_name, type: text, label: "iteration", priority: 0, doc: "Name of the slow iteration."}
  - {name: iteration_ns, type: duration, unit: ns, label: "iteration time", doc: "From the end of the GPU work of the iteration before to that of this iteration."}
  - {name: median_ns, type: duration, unit: ns, label: "median iteration time", doc: "Median of these times."}
  - {name: after_id, type: id, label: "row of the next operation", priority: 3, doc: "Row ID of the operation after the idle time in the raw table of its kind."}
checks:
  - dur_ns > 0
  - iteration_ns > median_ns
when_empty: "all iterations after the warm-up take about the same time, or there are too few"
limits: >-
  Iterations are those of the relation step whose is_sure is 1: a pause before a layer makes no step slow. The longest idle
  intervals count, up to the excess over the median. Iterations that are slow because kernels
  take longer have no rows. Work between two iterations counts for the second one. Iterations that differ on purpose,
  such as an evaluation every hundred steps, are slow too. Steps without ranges have no rows in a process in which several
  threads launch kernels, each to streams of its own.
see_also: [iterations, iteration_border, gpu_idle_causes]
---*/
WITH
-- From the end of the GPU work of one iteration to that of the next.
turn AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY global_tid ORDER BY end_ns, step) AS nth
  FROM (
    SELECT
      step,
      step_name AS range_name,
      global_tid,
      lag(end_ns) OVER one_by_one AS start_ns,
      end_ns,
      count(*) OVER (PARTITION BY global_tid) AS iterations,
      has_other_work,
      found = 'repeated' AS is_repeated
    FROM step
    WHERE end_ns IS NOT NULL
      -- Of layers without marks, the first of each pass has the pause before the pass.
      AND is_sure
    WINDOW one_by_one AS (PARTITION BY global_tid ORDER BY end_ns, step)
  )
  WHERE iterations >= :iterations
    AND end_ns > start_ns
    AND NOT has_other_work
),
-- Threads, each with a GPU that it feeds.
thread AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, global_tid) AS thread_id, gpu_id, global_tid
  FROM (SELECT DISTINCT gpu_id, global_tid FROM idle_part)
  WHERE global_tid IN (SELECT global_tid FROM turn)
),
timed AS MATERIALIZED (
  SELECT
    thread.thread_id,
    thread.gpu_id,
    thread.global_tid,
    turn.nth,
    turn.range_name,
    turn.is_repeated,
    turn.start_ns,
    turn.end_ns,
    turn.end_ns - turn.start_ns AS iteration_ns,
    gpu.idle_ns
  FROM thread
  CROSS JOIN turn
  CROSS JOIN gpu_window AS gpu
  WHERE turn.global_tid = thread.global_tid
    AND gpu.gpu_id = thread.gpu_id
    AND gpu.start_ns = turn.start_ns
    AND gpu.end_ns = turn.end_ns
),
usual AS (
  SELECT thread_id, median(iteration_ns) AS median_ns, median(idle_ns) AS median_idle_ns
  FROM timed
  GROUP BY thread_id
),
slow AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY thread_id ORDER BY nth) - 1 AS place
  FROM (
    SELECT
      timed.*,
      usual.median_ns,
      CAST(min(timed.iteration_ns - usual.median_ns, timed.idle_ns - usual.median_idle_ns) AS INTEGER) AS excess_ns,
      sum(timed.iteration_ns < :slower * usual.median_ns) OVER (
        PARTITION BY timed.thread_id
        ORDER BY timed.nth
      ) AS usual_before
    FROM timed
    JOIN usual
      ON usual.thread_id = timed.thread_id
  )
  WHERE iteration_ns >= :slower * median_ns
    AND usual_before > 0
    AND excess_ns > 0
),
-- Processes whose threads launch kernels to streams of their own, as those of a server do: their repeats are no
-- iterations of one loop.
crew AS MATERIALIZED (
  SELECT global_pid
  FROM (
    SELECT
      global_pid,
      global_tid,
      kernels,
      10 * kernels >= 9 * sum(kernels) OVER (PARTITION BY global_pid, context_id, stream_id) AS is_own,
      10 * kernels >= sum(kernels) OVER (PARTITION BY global_pid) AS is_much
    FROM (
      SELECT launch.global_pid, launch.global_tid, launch.context_id, launch.stream_id, count(*) AS kernels
      FROM (SELECT 1 FROM slow WHERE is_repeated LIMIT 1)
      CROSS JOIN launch
      WHERE launch.op_kind = 'kernel'
        AND (SELECT count(DISTINCT global_tid) FROM idle_part) > 1
      GROUP BY launch.global_pid, launch.global_tid, launch.context_id, launch.stream_id
    )
  )
  WHERE is_own AND is_much
  GROUP BY global_pid
  HAVING count(DISTINCT global_tid) > 1
),
-- The idle intervals that begin in a slow iteration.
placed AS MATERIALIZED (
  SELECT
    thread.thread_id,
    place_of((SELECT time_places(thread_id, start_ns, end_ns) FROM slow), thread.thread_id, idle.start_ns) AS place,
    idle.start_ns,
    idle.dur_ns,
    coalesce(idle.api_name, idle.part) AS subject,
    idle.after_id
  FROM idle_part AS idle
  CROSS JOIN thread
  WHERE EXISTS (SELECT 1 FROM slow)
    AND idle.gpu_id = thread.gpu_id
    AND place_of((SELECT time_places(thread_id, start_ns, end_ns) FROM slow), thread.thread_id, idle.start_ns)
      IS NOT NULL
    -- A late request makes no iteration slow.
    AND 2 * coalesce(overlap_ns((SELECT time_set(start_ns, end_ns) FROM outside_wait), idle.start_ns, idle.end_ns), 0)
      < idle.dur_ns
),
-- The longest idle intervals of a slow iteration, up to its excess. The window sorts all that it carries.
freed AS MATERIALIZED (
  SELECT
    placed.thread_id,
    placed.place,
    placed.start_ns,
    placed.subject,
    placed.after_id,
    min(placed.dur_ns, slow.excess_ns - coalesce(sum(placed.dur_ns) OVER longer, 0)) AS freed_ns
  FROM placed
  JOIN slow
    ON slow.thread_id = placed.thread_id
    AND slow.place = placed.place
  WINDOW longer AS (
    PARTITION BY placed.thread_id, placed.place
    ORDER BY placed.dur_ns DESC, placed.start_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
-- The GPUs that gain enough.
gaining AS MATERIALIZED (
  SELECT gpu_window.gpu_id
  FROM freed
  JOIN thread
    ON thread.thread_id = freed.thread_id
  JOIN gpu_window
    ON gpu_window.gpu_id = thread.gpu_id
  WHERE freed.freed_ns > 0
    AND thread.global_tid & -16777216 NOT IN (SELECT global_pid FROM crew)
  GROUP BY gpu_window.gpu_id
  HAVING 100.0 * sum(freed.freed_ns) >= :least_pct * min(gpu_window.window_ns)
)
SELECT
  slow.gpu_id,
  freed.start_ns,
  freed.freed_ns AS dur_ns,
  freed.subject,
  slow.range_name,
  slow.iteration_ns,
  CAST(slow.median_ns AS INTEGER) AS median_ns,
  freed.after_id
FROM freed
JOIN slow
  ON slow.thread_id = freed.thread_id
  AND slow.place = freed.place
WHERE freed.freed_ns > 0
  AND slow.gpu_id IN (SELECT gpu_id FROM gaining)
ORDER BY slow.gpu_id, freed.start_ns, freed.thread_id
