/*---
name: diff_path
version: 3
title: Critical path of a step
summary: What binds a step, in the mean of its GPUs.
why: To compare what the steps of two runs wait for.
kind: sum
tags: [cuda, gpu, kernel, latency, nvtx]
internal: true
reads: [all_critical_part, all_nvtx_name, all_nvtx_op, stalled_step, step_window, string]
requires: [step_window]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to compare steps, if the reports have any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
columns:
  - {name: cause, type: text, priority: 0, doc: "compute, communication, copies, host code, CUDA calls, launches, waits or unexplained."}
  - {name: name, type: text, priority: 0, doc: "Class of the kernels; the innermost range of what host code launches next; function of a call; else null."}
  - {name: kernel_name, type: text, label: "kernel", priority: 1, doc: "Demangled name; null for what is not a kernel."}
  - {name: step_ns, type: real, unit: ns, label: "time per step", priority: 1, doc: "Time on the critical path of a step: mean over steps, then over GPUs. All rows add up to the step."}
when_empty: "the report has no steps"
limits: >-
  See the relation critical_part. waits are delays from one operation to the next in a stream or across streams, and from the end of
  work to the return of the call that waits for it. The time of the work that a thread waits for counts for that work.
  The steps of a stall that happened once, as in stalled_step, do not count.
see_also: [critical_path, diff_causes, diff_explained]
---*/
WITH
win AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM step_window
  WHERE :per_iteration
    AND iif(:skip IS NULL, part IN ('median', 'steady'), step >= :skip)
    AND (global_tid, step) NOT IN (SELECT global_tid, step FROM stalled_step)
    AND dur_ns > 0
),
weight AS MATERIALIZED (
  SELECT gpu_id, 1.0 / (count(*) * (SELECT count(DISTINCT gpu_id) FROM win)) AS weight
  FROM win
  GROUP BY gpu_id
),
-- Many parts of few kinds: GROUP BY would sort them.
counted AS MATERIALIZED (
  SELECT
    v0 AS gpu_id,
    v1 AS part,
    v2 AS op_name,
    v3 AS call_name_id,
    v4 AS range_name_id,
    v6 AS dur_ns
  FROM json_rows(
    (
      SELECT
        sums_by(
          part.dur_ns,
          part.gpu_id,
          part.part,
          iif(part.part IN ('compute', 'communication'), part.op_name, NULL),
          iif(part.part IN ('allocation call', 'other call'), part.call_name_id, NULL),
          op.name_id
        )
      FROM win
      CROSS JOIN all_critical_part AS part
      LEFT JOIN all_nvtx_op AS op
        ON part.part = 'host code'
        AND op.op_kind = part.op_kind
        AND op.op_id = part.op_id
      WHERE part.edits = ''
        AND part.gpu_id = win.gpu_id
        AND part.start_ns = win.start_ns
        AND part.end_ns = win.end_ns
    )
  )
),
summed AS (
  SELECT
    CASE
      WHEN counted.part IN ('compute', 'communication', 'host code', 'unexplained') THEN counted.part
      WHEN counted.part = 'memory' THEN 'copies'
      WHEN counted.part IN ('launch call', 'launch latency') THEN 'launches'
      WHEN counted.part IN ('allocation call', 'other call') THEN 'CUDA calls'
      WHEN counted.part IN ('before', 'after') THEN 'unexplained'
      ELSE 'waits'
    END AS cause,
    counted.op_name,
    counted.call_name_id,
    counted.range_name_id,
    counted.dur_ns * weight.weight AS step_ns
  FROM counted
  JOIN weight
    ON weight.gpu_id = counted.gpu_id
),
named AS (
  SELECT
    cause,
    coalesce(
      op_class(op_name),
      (
        SELECT iif(text GLOB '*_v[0-9]*', substr(text, 1, length(rtrim(text, '0123456789')) - 2), text)
        FROM string
        WHERE string_id = call_name_id
      ),
      (SELECT name.layer_name FROM all_nvtx_name AS name WHERE name.name_id = range_name_id)
    ) AS name,
    op_name AS kernel_name,
    step_ns
  FROM summed
)
SELECT cause, name, kernel_name, sum(step_ns) AS step_ns
FROM named
GROUP BY cause, name, kernel_name
ORDER BY sum(step_ns) DESC, cause, name, kernel_name
