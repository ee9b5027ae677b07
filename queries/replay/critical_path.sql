/*---
name: critical_path
version: 1
title: Critical path
summary: One row per kernel, call or host code on the critical path, and its NVTX range.
why: To see which kernels, calls and ranges a step would be shorter without. All others overlap them.
kind: sum
tags: [cuda, gpu, kernel, latency, nvtx]
reads: [all_critical_part, all_nvtx_name, all_nvtx_op, judged_step, string]
requires: [gpu_window]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: part, type: text, priority: 0, doc: "host code, launch call, allocation call, other call, launch latency, stream gap, handover (from an operation of another stream), compute, communication, memory, return from wait, unexplained, or before (before the first known event)."}
  - {name: name, type: text, priority: 0, doc: "Function name of the kernel, what is copied, or the API function; of host code, the function that it comes before. Null before the first known event."}
  - {name: range_name, type: text, label: "range", priority: 1, doc: "Innermost NVTX range, with numbers replaced by *, around the launch of the operation that the part is, or leads to: of a part of the host, the next one that its thread launches. Null without a range."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time on the critical path, in all steps after the warm-up, or in the whole report if it has no steps."}
  - {name: part_count, type: int, unit: count, label: "parts", priority: 1, doc: "Parts of the path."}
  - {name: step_ns, type: duration, unit: ns, label: "time per step", priority: 1, doc: "dur_ns divided by the steps of the GPU; dur_ns without steps."}
  - {name: dur_pct, type: percent, unit: percent, label: "share of critical path", priority: 1, doc: "dur_ns as a share of the path of the GPU."}
when_empty: "no GPU operation was recorded"
limits: >-
  See the relation critical_part. What is on the path hides nothing, but another path can be nearly as long: what_if says what a
  change gains.
see_also: [what_bounds, what_if]
---*/
WITH
win AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM judged_step
),
step_count AS (
  SELECT gpu_id, count(*) AS count
  FROM win
  GROUP BY gpu_id
),
-- Many parts of few kinds: GROUP BY would sort them.
summed AS MATERIALIZED (
  SELECT
    v0 AS gpu_id,
    v1 AS part,
    v2 AS call_name_id,
    v3 AS op_name,
    v4 AS range_name_id,
    v5 AS part_count,
    v6 AS dur_ns
  FROM json_rows(
    (
      SELECT
        sums_by(
          part.dur_ns,
          part.gpu_id,
          part.part,
          part.call_name_id,
          iif(part.call_name_id IS NULL, part.op_name, NULL),
          op.name_id
        )
      FROM win
      CROSS JOIN all_critical_part AS part
      LEFT JOIN all_nvtx_op AS op
        ON op.op_kind = part.op_kind
        AND op.op_id = part.op_id
      WHERE part.edits = ''
        AND part.gpu_id = win.gpu_id
        AND part.start_ns = win.start_ns
        AND part.end_ns = win.end_ns
    )
  )
),
named AS (
  SELECT
    gpu_id,
    part,
    coalesce(
      (
        SELECT
          iif(text GLOB '*_v[0-9]*', substr(text, 1, length(rtrim(text, '0123456789')) - 2), text)
        FROM string
        WHERE string_id = call_name_id
      ),
      simple_name(op_name)
    ) AS name,
    (SELECT name.layer_name FROM all_nvtx_name AS name WHERE name.name_id = range_name_id) AS range_name,
    dur_ns,
    part_count
  FROM summed
)
SELECT
  gpu_id,
  part,
  name,
  range_name,
  sum(dur_ns) AS dur_ns,
  sum(part_count) AS part_count,
  sum(dur_ns) / (SELECT count FROM step_count WHERE step_count.gpu_id = named.gpu_id) AS step_ns,
  100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY gpu_id) AS dur_pct
FROM named
GROUP BY gpu_id, part, name, range_name
ORDER BY dur_ns DESC, gpu_id, part, name, range_name
LIMIT :limit
