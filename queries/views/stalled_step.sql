/*---
name: stalled_step
summary: The steps of a stall that happened once in a thread, such as a pause of the machine.
present_if: [step_window]
stored: true
reads: [step_window]
columns:
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: step, type: int, doc: "Number of the step, from 0 per thread."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time of the step, as in step_window; on the GPU where it is the longest."}
  - {name: usual_ns, type: duration, unit: ns, doc: "Median of the thread's steps after the warm-up, also those of the stall."}
limits: >-
  Steps after the warm-up of threads with at least 10. A stall is a step that takes more than twice the median, with its
  neighbours that take longer than usual: by more than 5 % of the median and by more than 6 times the distance from the
  lower quartile to it. A thread with two stalls or more has no rows, nor has one with half of its steps in a stall: what
  comes again is how the program runs.
---*/
WITH
timed AS (
  SELECT global_tid, step, max(dur_ns) AS dur_ns
  FROM step_window
  WHERE part IN ('median', 'steady')
  GROUP BY global_tid, step
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_tid ORDER BY dur_ns, step) AS nth,
    count(*) OVER (PARTITION BY global_tid) AS step_count
  FROM timed
),
usual AS (
  SELECT
    *,
    max(iif(nth = (step_count + 1) / 2, dur_ns, NULL)) OVER (PARTITION BY global_tid) AS usual_ns,
    max(iif(nth = (step_count + 3) / 4, dur_ns, NULL)) OVER (PARTITION BY global_tid) AS quarter_ns
  FROM ranked
  WHERE step_count >= 10
),
judged AS (
  SELECT *, dur_ns - usual_ns > max(0.05 * usual_ns, 6 * (usual_ns - quarter_ns)) AS is_long
  FROM usual
),
-- Neighbours that are long come after the same number of others.
numbered AS (
  SELECT *, sum(NOT is_long) OVER (PARTITION BY global_tid ORDER BY step ROWS UNBOUNDED PRECEDING) AS others
  FROM judged
),
stall AS (
  SELECT global_tid, others, count(*) AS long_count, min(step_count) AS step_count
  FROM numbered
  WHERE is_long
  GROUP BY global_tid, others
  HAVING max(dur_ns > 2 * usual_ns)
),
single AS MATERIALIZED (
  SELECT global_tid, min(others) AS others
  FROM stall
  GROUP BY global_tid
  HAVING count(*) = 1
    AND 2 * max(long_count) < min(step_count)
)
SELECT numbered.global_tid, numbered.step, numbered.dur_ns, numbered.usual_ns
FROM numbered
JOIN single
  ON single.global_tid = numbered.global_tid
  AND single.others = numbered.others
WHERE numbered.is_long
