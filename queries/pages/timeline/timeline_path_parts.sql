/*---
name: timeline_path_parts
version: 1
title: Longest parts of the critical path
summary: The longest parts of the critical path of each GPU.
why: To draw the critical path, however many parts it has.
kind: trace
tags: [cuda, gpu]
internal: true
reads: [all_critical_part, all_cuda_call, judged_step]
requires: [gpu_window]
params:
  - {name: parts, type: int, default: 10000, min: 1, doc: "Most parts to return for each GPU, the longest."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: part, type: text, priority: 0, doc: "Kind of the part, as in critical_path."}
  - {name: name, type: text, priority: 0, doc: "Function name of the kernel, what is copied, or the API function, as in critical_path; null before the first known event."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the part, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Length of the part."}
  - {name: rank, type: int, label: "#", priority: 2, doc: "Rank of the part on its GPU, the longest first."}
checks:
  - dur_ns > 0
when_empty: "no GPU operation was recorded"
limits: "Steps after the warm-up, or the whole report if it has no steps. See critical_path."
see_also: [timeline_path, critical_path]
---*/
WITH
-- Ranks need a sort: only those that are long enough are ranked.
least AS MATERIALIZED (
  SELECT
    gpu_id,
    (
      SELECT min(longest.v2 - longest.v1)
      FROM json_rows(
        (
          SELECT longest_spans(:parts, 0, part.part_start_ns, part.part_end_ns, 0, NULL)
          FROM judged_step AS step
          CROSS JOIN all_critical_part AS part
          WHERE step.gpu_id = gpu.gpu_id
            AND part.edits = ''
            AND part.gpu_id = step.gpu_id
            AND part.start_ns = step.start_ns
            AND part.end_ns = step.end_ns
        )
      ) AS longest
    ) AS dur_ns
  FROM (SELECT DISTINCT gpu_id FROM judged_step) AS gpu
),
path AS (
  SELECT
    part.gpu_id,
    part.part,
    part.part_start_ns AS start_ns,
    part.dur_ns,
    part.call_id,
    part.op_name,
    row_number() OVER (
      PARTITION BY part.gpu_id
      ORDER BY part.dur_ns DESC, part.part_start_ns, part.start_ns, part.place
    ) AS rank
  FROM judged_step AS step
  JOIN least
    ON least.gpu_id = step.gpu_id
  CROSS JOIN all_critical_part AS part
  WHERE part.edits = ''
    AND part.gpu_id = step.gpu_id
    AND part.start_ns = step.start_ns
    AND part.end_ns = step.end_ns
    AND part.dur_ns >= max(least.dur_ns, 1)
)
SELECT
  gpu_id,
  part,
  coalesce(
    (SELECT api_name FROM all_cuda_call WHERE all_cuda_call.call_id = path.call_id),
    simple_name(op_name)
  ) AS name,
  start_ns,
  dur_ns,
  rank
FROM path
WHERE rank <= :parts
ORDER BY gpu_id, start_ns, rank
