/*---
name: timeline_path_kinds
version: 2
title: Kinds of parts of the critical path over time
summary: How the kinds of parts share the critical path of each GPU, piece by piece.
why: To draw the critical path of a whole capture.
kind: sum
tags: [cuda, gpu]
internal: true
reads: [all_critical_part, judged_step]
requires: [gpu_window]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "Number of pieces of equal length, from the first part to the last of any GPU."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: part, type: text, priority: 0, doc: "Kind of the parts, as in critical_path."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Sum of the lengths of the parts."}
  - {name: part_count, type: int, unit: count, label: "parts", priority: 1, doc: "Parts that take time."}
  - {name: piece_times, type: text, priority: 3, doc: "JSON list of a list per piece: the kind, the piece from 0, and the time in it in ns."}
  - {name: from_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first piece, on the report's clock."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 3, doc: "Length of each piece but the last, which takes the rest."}
checks:
  - dur_ns > 0 AND part_count > 0
when_empty: "no GPU operation was recorded"
limits: "Steps after the warm-up, or the whole report if it has no steps. See critical_path."
see_also: [timeline_path, critical_path]
---*/
WITH
bound AS MATERIALIZED (
  SELECT min(start_ns) AS from_ns, max(end_ns) AS to_ns
  FROM judged_step
),
-- Many parts of few kinds: GROUP BY would sort them.
path AS MATERIALIZED (
  SELECT
    gpu.gpu_id,
    (
      SELECT
        json_array(
          json(sums_by(part.dur_ns, part.part)),
          json(piece_times(part.part, part.part_start_ns, part.part_end_ns, bound.from_ns, bound.to_ns, :pieces))
        )
      FROM bound
      CROSS JOIN judged_step AS step
      CROSS JOIN all_critical_part AS part
      WHERE step.gpu_id = gpu.gpu_id
        AND part.edits = ''
        AND part.gpu_id = step.gpu_id
        AND part.start_ns = step.start_ns
        AND part.end_ns = step.end_ns
        AND part.dur_ns > 0
    ) AS sums
  FROM (SELECT DISTINCT gpu_id FROM judged_step) AS gpu
),
kind AS (
  SELECT path.gpu_id, kind.value ->> 0 AS part, kind.value ->> 1 AS part_count, kind.value ->> 2 AS dur_ns, path.sums
  FROM path
  CROSS JOIN json_each(path.sums, '$[0]') AS kind
)
SELECT
  kind.gpu_id,
  kind.part,
  kind.dur_ns,
  kind.part_count,
  (
    SELECT json_group_array(json(time.value))
    FROM json_each(kind.sums, '$[1]') AS time
    WHERE time.value ->> 0 = kind.part
  ) AS piece_times,
  bound.from_ns,
  max((bound.to_ns - bound.from_ns) / :pieces, 1) AS piece_ns
FROM kind
CROSS JOIN bound
GROUP BY kind.gpu_id, kind.part
ORDER BY kind.gpu_id, kind.part
