/*---
name: step
summary: One row per step of a thread, marked by NVTX ranges or found by what is launched again and again.
present_if: [src_nvtx_event, gpu_op, graph_trace]
stored: true
reads: [all_cuda_call, all_repeated_step, iteration, scope, string]
columns:
  - {name: step, type: int, doc: "Number of the step, from 0 per thread; marked steps inside a warm-up, which have no row, count, too."}
  - {name: step_count, type: int, unit: count, doc: "Steps of the thread."}
  - {name: is_only, type: bool, doc: "1 for the only marked step of a report in which little repeats, or that the scope names."}
  - {name: found, type: text, doc: "marked: by NVTX ranges. repeated: by the sequence of launches, in a process without marked steps that have GPU work."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of its first GPU operation, on the report's clock; null without GPU work."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of its last GPU operation; null without GPU work."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, doc: "Start of the range, or of the first launching call, on the CPU; null if launches were not recorded."}
  - {name: cpu_end_ns, type: timestamp, unit: ns, doc: "End of the range, or of the last launching call, on the CPU; null if launches were not recorded."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched in the step."}
  - {name: likeness_pct, type: percent, unit: percent, doc: "What this step and the usual step both launch, of what either launches; null for marked steps."}
  - {name: has_other_work, type: bool, doc: "1 if likeness_pct is below 70, as of a step with an evaluation in it; 0 for marked steps."}
  - {name: repeat_count, type: int, unit: count, doc: "Repeats of the launch sequence that begin in the step: 1 for a repeated step. Null if no sequence repeats. A marked step with 3 encloses three passes."}
  - {name: is_sure, type: bool, doc: "1 for marked steps, and for repeated steps that have an end of their own, as in repeated_step. A pause between other steps can be the border of a longer step."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID; null if launches were not recorded."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs; the process's global ID if launches were not recorded."}
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table; null for repeated steps."}
  - {name: step_name, type: text, doc: "Message of the range, with the prefix DOMAIN: outside the default domain; such as step 3 without a range."}
  - {name: layer_name, type: text, doc: "step_name with each number replaced by *; step without a range."}
limits: >-
  Marked steps are the rows of iteration; a range that marks one step only, if nothing repeats in its process, or less
  than 16 times without a wait of the host in each, and it marks no epoch. If the scope names the ranges of
  iterations, there are no others, but without these ranges the name step means the repeated steps. For repeated steps, see
  repeated_step. They are those of the steady state with the most kernel time, unless the scope names another one, as
  in state 0. If a thread launches to several GPUs, its repeated steps are those of the first. Steps are those of the
  whole capture, with the same numbers whatever the scope leaves; step_window has those in the scope.
---*/
WITH
-- Between repeats of a short sequence, other work takes half of the time, again and again: they are parts of something
-- longer, such as the requests of a server with several threads.
part AS (
  SELECT global_pid
  FROM (
    SELECT
      global_pid,
      likeness_pct < 70 AS is_other,
      end_ns - lag(end_ns, 1, start_ns) OVER (PARTITION BY global_pid, gpu_id, kind, state ORDER BY step) AS dur_ns
    FROM all_repeated_step
    WHERE kind = 'step'
  )
  GROUP BY global_pid
  HAVING sum(is_other) >= 16
    AND 2 * sum(iif(is_other, dur_ns, 0)) >= sum(dur_ns)
),
found AS (
  SELECT
    *,
    coalesce(min(global_tid) OVER (PARTITION BY global_pid, gpu_id), global_pid) AS thread
  FROM all_repeated_step
  WHERE CASE
      WHEN (SELECT iteration_name FROM scope) GLOB 'state [0-9]*' THEN
        kind IN ('step', 'other')
        AND 'state ' || state = (SELECT iteration_name FROM scope)
      ELSE kind = 'step' AND global_pid NOT IN (SELECT global_pid FROM part)
    END
),
first_gpu AS (
  SELECT *, min(gpu_id) OVER (PARTITION BY thread) AS first_gpu_id
  FROM found
),
repeated AS MATERIALIZED (
  SELECT *
  FROM first_gpu
  WHERE gpu_id = first_gpu_id
),
-- So few repeats can be the layers of a marked step, unless the host waits in each.
brief AS (
  SELECT global_pid, count(*) AS repeat_count, min(cpu_start_ns) AS start_ns, max(cpu_end_ns) AS end_ns
  FROM repeated
  GROUP BY global_pid
  HAVING count(*) < 16
),
few AS MATERIALIZED (
  SELECT brief.global_pid
  FROM brief
  WHERE (SELECT count(*) FROM iteration) = 1
    AND (
      SELECT count(*)
      FROM all_cuda_call AS call
      WHERE call.global_tid & -16777216 = brief.global_pid
        AND call.start_ns BETWEEN brief.start_ns AND brief.end_ns
        AND call.name_id IN (
          SELECT string_id
          FROM string
          WHERE text GLOB '*Synchronize*'
            OR text GLOB 'cudaMemcpy_v*'
        )
    ) < 0.8 * brief.repeat_count
),
-- A single mark is a step if little repeats, or if the user says so.
marked AS MATERIALIZED (
  SELECT *, global_tid & -16777216 AS global_pid, (SELECT count(*) FROM iteration) = 1 AS is_only
  FROM iteration
  WHERE (SELECT count(*) FROM iteration) > 1
    OR (SELECT iteration_name FROM scope) IS NOT NULL
    OR global_tid & -16777216 NOT IN (SELECT global_pid FROM repeated)
    OR global_tid & -16777216 IN (SELECT global_pid FROM few) AND NOT lower(layer_name) GLOB '*epoch*'
),
-- Repeats that begin before a mark does, and before it ends, counted in one pass over both.
border AS (
  SELECT global_pid, cpu_start_ns AS time_ns, 1 AS begins, NULL AS range_id, NULL AS sign
  FROM repeated
  WHERE cpu_start_ns IS NOT NULL
  UNION ALL
  SELECT global_pid, start_ns, 0, range_id, -1
  FROM marked
  UNION ALL
  SELECT global_pid, end_ns, 0, range_id, 1
  FROM marked
),
passed AS (
  SELECT
    *,
    sum(begins) OVER (PARTITION BY global_pid ORDER BY time_ns, begins ROWS UNBOUNDED PRECEDING) AS begun_count,
    max(begins) OVER (PARTITION BY global_pid) AS repeats
  FROM border
),
enclosed AS MATERIALIZED (
  SELECT range_id, sum(sign * begun_count) AS repeat_count
  FROM passed
  WHERE begins = 0
    AND repeats = 1
  GROUP BY range_id
)
SELECT
  iteration AS step,
  iteration_count AS step_count,
  is_only,
  'marked' AS found,
  proj_start_ns AS start_ns,
  proj_end_ns AS end_ns,
  start_ns AS cpu_start_ns,
  end_ns AS cpu_end_ns,
  op_count,
  NULL AS likeness_pct,
  0 AS has_other_work,
  enclosed.repeat_count,
  1 AS is_sure,
  pid,
  tid,
  global_tid,
  marked.range_id,
  range_name AS step_name,
  layer_name
FROM marked
LEFT JOIN enclosed
  ON enclosed.range_id = marked.range_id
UNION ALL
SELECT
  step,
  step_count,
  0,
  'repeated',
  start_ns,
  end_ns,
  cpu_start_ns,
  cpu_end_ns,
  op_count,
  likeness_pct,
  likeness_pct < 70,
  1,
  is_sure,
  pid,
  nullif(thread & 16777215, 0),
  thread,
  NULL,
  'step ' || step,
  'step'
FROM repeated
WHERE (
    SELECT
      iteration_name IS NULL
      OR iteration_name GLOB 'state [0-9]*'
      OR iteration_name = 'step' AND NOT EXISTS (SELECT 1 FROM iteration)
    FROM scope
  )
  AND global_pid NOT IN (
    SELECT global_tid & -16777216
    FROM marked
    WHERE op_count > 0
      AND (iteration_count > 1 OR is_only)
  )
