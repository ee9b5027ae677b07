/*---
name: step_window
summary: One row per step and GPU, with the time that belongs to the step on the GPU.
present_if: [src_nvtx_event, gpu_op, graph_trace]
stored: true
reads: [all_gpu_busy, all_gpu_op, gpu_busy, scope, step]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: step, type: int, doc: "Number of the step, from 0 per thread."}
  - {name: part, type: text, doc: "warm-up, median, steady or tail. The median step is the one in the middle of the steady ones by dur_ns."}
  - {name: found, type: text, doc: "marked or repeated, as in step."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "End of the last GPU operation of the step before, on the report's clock. The first step begins with its first GPU operation; if it is marked and the GPU idles before, with its range, or when the work before it ends."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of its last GPU operation; of the step before, if that is later."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, doc: "Start of the step on the CPU; null if launches were not recorded."}
  - {name: cpu_end_ns, type: timestamp, unit: ns, doc: "End of the step on the CPU; null if launches were not recorded."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched in the step, on all GPUs."}
  - {name: step_count, type: int, unit: count, doc: "Steps of the thread that have GPU work."}
  - {name: repeat_count, type: int, unit: count, doc: "As in step."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table; null for repeated steps."}
  - {name: step_name, type: text, doc: "As in step."}
  - {name: layer_name, type: text, doc: "step_name with each number replaced by *; step without a range."}
limits: >-
  Steps with GPU work only. The first steps are warm-up as long as each takes more than 1.5 times the median of
  the last half. Of four steps or more, the first is warm-up always: its time lacks the wait before its first
  operation. The last steps are the tail as long as they share less than 90 % of their launches with the usual step,
  as a step has in which the capture ends. Numbers and parts are those of the whole capture; of its rows, those in the scope's time, and on its GPUs,
  are shown. Time between two steps belongs to the later one, such as the wait for its data. A thread that
  shares its process with other threads that have steps has rows for the GPUs on which its steps begin; else it
  has rows for all GPUs of its process.
---*/
WITH
-- Steps can overlap on the GPU: each ends when all before it have ended. Each window sorts all that it carries,
-- so most columns are joined in the end.
ended AS (
  SELECT
    pid,
    global_tid,
    step,
    found,
    start_ns,
    cpu_start_ns,
    max(end_ns) OVER in_order AS to_ns,
    row_number() OVER in_order AS nth,
    coalesce(likeness_pct >= 90, 1) AS is_alike
  FROM step
  WHERE op_count > 0
  WINDOW in_order AS (PARTITION BY global_tid ORDER BY step ROWS UNBOUNDED PRECEDING)
),
-- The GPU may still have work of before when the first step begins.
work AS MATERIALIZED (
  SELECT pid, start_ns, end_ns
  FROM all_gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
begun AS (
  SELECT
    *,
    coalesce(
      lag(to_ns) OVER (PARTITION BY global_tid ORDER BY nth),
      iif(
        found = 'marked',
        min(
          start_ns,
          max(
            cpu_start_ns,
            coalesce(
              (SELECT max(work.end_ns) FROM work WHERE work.pid = ended.pid AND work.start_ns < ended.start_ns),
              cpu_start_ns
            )
          )
        ),
        start_ns
      )
    ) AS from_ns,
    count(*) OVER (PARTITION BY global_tid) AS timed_count
  FROM ended
),
timed AS (
  SELECT *, to_ns - from_ns AS from_to_ns
  FROM begun
),
halved AS (
  SELECT
    *,
    nth > timed_count / 2 AS is_late,
    row_number() OVER (PARTITION BY global_tid, nth > timed_count / 2 ORDER BY from_to_ns, nth) AS rank,
    count(*) OVER (PARTITION BY global_tid, nth > timed_count / 2) AS ranked_count,
    -- Each thread has one first step.
    count(*) FILTER (WHERE nth = 1) OVER (PARTITION BY pid) AS thread_count
  FROM timed
),
usual AS (
  SELECT
    *,
    avg(iif(is_late AND rank IN ((ranked_count + 1) / 2, ranked_count / 2 + 1), from_to_ns, NULL))
      OVER (PARTITION BY global_tid) AS usual_ns
  FROM halved
),
-- The first step that is not longer than usual, and that has one before it, ends the warm-up.
warm AS (
  SELECT
    *,
    nth < min(iif(from_to_ns <= 1.5 * usual_ns AND is_alike AND (nth > 1 OR timed_count < 4), nth, NULL))
      OVER (PARTITION BY global_tid) AS is_warm_up,
    nth > max(iif(is_alike, nth, NULL)) OVER (PARTITION BY global_tid) AS is_tail
  FROM usual
),
placed AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_tid, is_warm_up, is_tail ORDER BY from_to_ns, nth) AS steady_rank,
    count(*) OVER (PARTITION BY global_tid, is_warm_up, is_tail) AS steady_count
  FROM warm
),
process_gpu AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
-- Where the steps of processes with several threads begin.
first_op AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, start_ns
  -- Nothing is read if each process has one thread with steps.
  FROM (SELECT 1 FROM placed WHERE thread_count > 1 LIMIT 1)
  CROSS JOIN all_gpu_op
  WHERE start_ns IN (SELECT start_ns FROM placed WHERE thread_count > 1)
),
on_gpu AS (
  SELECT
    placed.*,
    process_gpu.gpu_id,
    process_gpu.device_id,
    placed.thread_count = 1 OR first_op.start_ns IS NOT NULL AS begins_here
  FROM placed
  JOIN process_gpu
    ON process_gpu.pid = placed.pid
  LEFT JOIN first_op
    ON first_op.pid = placed.pid
    AND first_op.device_id = process_gpu.device_id
    AND first_op.start_ns = placed.start_ns
),
used AS (
  SELECT
    *,
    max(begins_here) OVER (PARTITION BY global_tid) AS begins_somewhere,
    max(begins_here) OVER (PARTITION BY global_tid, device_id) AS uses_gpu
  FROM on_gpu
)
SELECT
  used.gpu_id,
  used.device_id,
  used.step,
  CASE
    WHEN is_warm_up THEN 'warm-up'
    WHEN is_tail THEN 'tail'
    WHEN steady_rank = (steady_count + 1) / 2 THEN 'median'
    ELSE 'steady'
  END AS part,
  used.found,
  used.from_ns AS start_ns,
  used.to_ns AS end_ns,
  used.from_to_ns AS dur_ns,
  used.cpu_start_ns,
  step.cpu_end_ns,
  step.op_count,
  used.timed_count AS step_count,
  step.repeat_count,
  used.pid,
  step.tid,
  used.global_tid,
  step.range_id,
  step.step_name,
  step.layer_name
FROM scope AS of_scope
CROSS JOIN used
JOIN step
  ON step.global_tid = used.global_tid
  AND step.step = used.step
WHERE (uses_gpu OR NOT begins_somewhere)
  AND (of_scope.start_ns IS NULL OR to_ns > of_scope.start_ns)
  AND (of_scope.end_ns IS NULL OR from_ns < of_scope.end_ns)
