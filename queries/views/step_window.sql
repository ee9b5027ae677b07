/*---
name: step_window
summary: One row per step and GPU, with the time that belongs to the step on the GPU.
present_if: [src_nvtx_event, gpu_op, graph_trace]
stored: true
reads: [all_gpu_busy, all_gpu_op, all_nvtx_name, all_nvtx_projection, gpu_busy, scope, step]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: step, type: int, doc: "Number of the step, from 0 per thread."}
  - {name: part, type: text, doc: "warm-up, median, steady or tail. The median step is the one in the middle of the steady ones by dur_ns."}
  - {name: is_only, type: bool, doc: "As in step."}
  - {name: found, type: text, doc: "marked or repeated, as in step."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "End of the last GPU operation of the step before, on the report's clock. The first step begins with its first GPU operation; if it is marked and the GPU idles before, with its range, or when the work before it ends."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of its last GPU operation; of the step before, if that is later. The only step ends with its range, if that is later."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, doc: "Start of the step on the CPU; null if launches were not recorded."}
  - {name: cpu_end_ns, type: timestamp, unit: ns, doc: "End of the step on the CPU; null if launches were not recorded."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched in the step, on all GPUs."}
  - {name: step_count, type: int, unit: count, doc: "Steps of the thread that have GPU work."}
  - {name: has_other_work, type: bool, doc: "As in step."}
  - {name: repeat_count, type: int, unit: count, doc: "As in step."}
  - {name: is_sure, type: bool, doc: "As in step."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table; null for repeated steps."}
  - {name: step_name, type: text, doc: "As in step."}
  - {name: layer_name, type: text, doc: "step_name with each number replaced by *; step without a range."}
limits: >-
  Steps with GPU work only. The first steps are warm-up as long as each takes more than 1.5 times the median of the
  last half, or begins inside a range with warm-up in its name. Of four steps or more, the first is warm-up always:
  its time lacks the wait before its first operation. The last steps are the tail as long as they share less than 90
  % of their launches with the usual step, as a step has in which the capture ends. Numbers and parts are those of
  the whole capture; shown are the rows on the scope's GPUs with half of their time or more in the scope's time, or
  that fill half of the scope's time. Time between two steps belongs to the later one, such as the wait for its
  data. A thread that shares its process with other threads that have steps has rows for the GPUs on which its steps
  begin; else it has rows for all GPUs of its process.
---*/
WITH
-- Ranges of a warm-up around steps that repeat without marks. Of marked steps, iteration leaves these out.
warm_name AS MATERIALIZED (
  SELECT name_id
  FROM all_nvtx_name
  WHERE instr(lower(range_text), 'warm') > 0
    AND (lower(range_text) GLOB '*warmup*' OR lower(range_text) GLOB '*warm[-_ ]up*')
),
warm AS MATERIALIZED (
  SELECT range.pid, range.start_ns, range.end_ns
  -- Ranges are not read if no name belongs to a warm-up.
  FROM (SELECT 1 FROM warm_name LIMIT 1)
  CROSS JOIN all_nvtx_projection AS range
  WHERE range.name_id IN (SELECT name_id FROM warm_name)
),
-- Steps can overlap on the GPU: each ends when all before it have ended.
ended AS (
  SELECT
    pid,
    global_tid,
    step,
    found,
    start_ns,
    cpu_start_ns,
    max(iif(is_only, max(end_ns, cpu_end_ns), end_ns))
      OVER (in_order ROWS UNBOUNDED PRECEDING) AS to_ns,
    max(end_ns) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns,
    row_number() OVER in_order AS nth,
    count(*) OVER (PARTITION BY global_tid) AS timed_count,
    coalesce(likeness_pct >= 90, 1) AS is_alike
  FROM step
  WHERE op_count > 0
  WINDOW in_order AS (PARTITION BY global_tid ORDER BY step)
),
-- The GPU may still have work of before when the first step begins.
first AS MATERIALIZED (
  SELECT pid, start_ns, min(step)
  FROM step
  WHERE op_count > 0
  GROUP BY global_tid
),
-- All but the little work before the last of these is skipped.
work AS MATERIALIZED (
  SELECT first.pid, first.start_ns, max(busy.end_ns) AS end_ns
  FROM (SELECT max(start_ns) AS start_ns FROM first) AS last
  CROSS JOIN all_gpu_busy AS busy
  JOIN first
    ON first.pid = busy.pid
    AND first.start_ns > busy.start_ns
  WHERE busy.level = 'process'
    AND busy.activity = 'any'
    AND busy.start_ns < last.start_ns
  GROUP BY first.pid, first.start_ns
),
timed AS MATERIALIZED (
  SELECT
    pid,
    global_tid,
    step,
    start_ns,
    coalesce(
      before_ns,
      iif(
        found = 'marked',
        min(
          start_ns,
          max(
            cpu_start_ns,
            coalesce(
              (SELECT end_ns FROM work WHERE work.pid = ended.pid AND work.start_ns = ended.start_ns),
              cpu_start_ns
            )
          )
        ),
        start_ns
      )
    ) AS from_ns,
    to_ns,
    nth,
    timed_count,
    cpu_start_ns,
    is_alike
  FROM ended
),
usual AS MATERIALIZED (
  SELECT global_tid, median(to_ns - from_ns) AS usual_ns
  FROM timed
  WHERE nth > timed_count / 2
  GROUP BY global_tid
),
-- The first step that is not longer than usual, and that has one before it, ends the warm-up.
steady AS MATERIALIZED (
  SELECT
    timed.global_tid,
    min(iif(
      timed.is_alike
        AND NOT coalesce(
          overlap_ns(
            (SELECT time_set(pid, start_ns, end_ns) FROM warm),
            timed.pid,
            timed.cpu_start_ns,
            timed.cpu_start_ns + 1
          ),
          0
        )
        AND timed.to_ns - timed.from_ns <= 1.5 * usual.usual_ns
        AND (timed.nth > 1 OR timed.timed_count < 4),
      timed.nth,
      NULL
    )) AS first,
    max(iif(timed.is_alike, timed.nth, NULL)) AS last
  FROM timed
  JOIN usual
    ON usual.global_tid = timed.global_tid
  GROUP BY timed.global_tid
),
placed AS MATERIALIZED (
  SELECT timed.*, coalesce(timed.nth < steady.first, 0) AS is_warm_up, coalesce(timed.nth > steady.last, 0) AS is_tail
  FROM timed
  JOIN steady
    ON steady.global_tid = timed.global_tid
),
middle AS MATERIALIZED (
  SELECT global_tid, nth
  FROM (
    SELECT
      global_tid,
      nth,
      row_number() OVER (PARTITION BY global_tid ORDER BY to_ns - from_ns, nth) AS rank,
      count(*) OVER (PARTITION BY global_tid) AS steady_count
    FROM placed
    WHERE NOT is_warm_up
      AND NOT is_tail
  )
  WHERE rank = (steady_count + 1) / 2
),
process_gpu AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
-- Processes with several threads that have steps, and the GPUs on which these begin. Nothing is read if there are none.
shared AS MATERIALIZED (
  SELECT pid
  FROM timed
  GROUP BY pid
  HAVING count(DISTINCT global_tid) > 1
),
first_op AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, start_ns
  FROM (SELECT 1 FROM shared LIMIT 1)
  CROSS JOIN all_gpu_op
  WHERE start_ns IN (SELECT start_ns FROM placed)
),
begun AS MATERIALIZED (
  SELECT global_tid, json_group_array(device_id) AS devices
  FROM (
    SELECT placed.global_tid, first_op.device_id, count(*) AS begun_count, max(placed.timed_count) AS timed_count
    FROM first_op
    JOIN placed
      ON placed.pid = first_op.pid
      AND placed.start_ns = first_op.start_ns
    WHERE first_op.pid IN (SELECT pid FROM shared)
    GROUP BY placed.global_tid, first_op.device_id
  )
  -- Work of other threads can start at the same time by chance.
  WHERE 20 * begun_count >= timed_count
  GROUP BY global_tid
)
SELECT
  process_gpu.gpu_id,
  process_gpu.device_id,
  placed.step,
  CASE
    WHEN placed.is_warm_up THEN 'warm-up'
    WHEN placed.is_tail THEN 'tail'
    WHEN middle.nth = placed.nth THEN 'median'
    ELSE 'steady'
  END AS part,
  step.is_only,
  step.found,
  placed.from_ns AS start_ns,
  placed.to_ns AS end_ns,
  placed.to_ns - placed.from_ns AS dur_ns,
  step.cpu_start_ns,
  step.cpu_end_ns,
  step.op_count,
  placed.timed_count AS step_count,
  step.has_other_work,
  step.repeat_count,
  step.is_sure,
  placed.pid,
  step.tid,
  placed.global_tid,
  step.range_id,
  step.step_name,
  step.layer_name
FROM scope AS of_scope
CROSS JOIN placed
JOIN process_gpu
  ON process_gpu.pid = placed.pid
JOIN step
  ON step.global_tid = placed.global_tid
  AND step.step = placed.step
LEFT JOIN middle
  ON middle.global_tid = placed.global_tid
LEFT JOIN begun
  ON begun.global_tid = placed.global_tid
WHERE (begun.devices IS NULL OR process_gpu.device_id IN (SELECT value FROM json_each(begun.devices)))
  -- Threads that take the same steps at other times have parts of other steps in the time of one.
  AND (of_scope.start_ns IS NULL OR placed.to_ns > of_scope.start_ns)
  AND (of_scope.end_ns IS NULL OR placed.from_ns < of_scope.end_ns)
  AND 2 * (
    coalesce(min(placed.to_ns, of_scope.end_ns), placed.to_ns)
    - coalesce(max(placed.from_ns, of_scope.start_ns), placed.from_ns)
  ) >= coalesce(
    min(placed.to_ns - placed.from_ns, of_scope.end_ns - of_scope.start_ns),
    placed.to_ns - placed.from_ns
  )
