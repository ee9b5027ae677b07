/*---
name: timeline_path
version: 1
title: Critical path on the timeline
summary: The longest parts of each GPU's critical path, as lists of numbers.
why: To see where the work and calls are that a step would be shorter without.
kind: sum
tags: [cuda, gpu]
internal: true
reads: []
asks: [timeline_path_kinds, timeline_path_parts]
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "As in timeline_path_kinds."}
  - {name: parts, type: int, default: 10000, min: 1, doc: "As in timeline_path_parts."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: part_count, type: int, unit: count, label: "parts", priority: 1, doc: "Parts of the path that take time, as in critical_path."}
  - {name: shown_count, type: int, unit: count, label: "shown", priority: 1, doc: "Parts that are in the lists."}
  - {name: path_ns, type: duration, unit: ns, label: "path", priority: 1, doc: "Sum of the lengths of all parts."}
  - {name: start_list, type: text, priority: 3, doc: "JSON list of the starts of the longest parts in ns on the report's clock: the first, then each from the one before."}
  - {name: dur_list, type: text, priority: 3, doc: "JSON list of their lengths in ns."}
  - {name: kind_list, type: text, priority: 3, doc: "JSON list of what they are: positions in kind_texts, from 0."}
  - {name: name_list, type: text, priority: 3, doc: "JSON list of their names: positions in name_texts, from 0; -1 for none."}
  - {name: kind_texts, type: text, priority: 3, doc: "JSON list of the kinds of parts, as part in critical_path."}
  - {name: name_texts, type: text, priority: 3, doc: "The distinct names, as name in critical_path, with U+001F between them; null if there is none."}
  - {name: kind_sums, type: text, priority: 3, doc: "JSON list of the time of each kind in ns, all parts."}
  - {name: piece_list, type: text, priority: 3, doc: "JSON list of three numbers per kind and piece: the kind's position, the piece, and the time as a share in thousandths."}
  - {name: from_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the first piece, on the report's clock."}
  - {name: piece_ns, type: duration, unit: ns, label: "length of pieces", priority: 3, doc: "Length of each piece but the last, which takes the rest."}
checks:
  - shown_count <= part_count AND json_array_length(start_list) = shown_count
when_empty: "no GPU operation was recorded"
limits: "Steps after the warm-up, or the whole report if it has no steps. See critical_path."
see_also: [timeline_lanes, timeline_path_kinds, timeline_path_parts, critical_path]
---*/
WITH
kind AS MATERIALIZED (
  SELECT
    gpu_id,
    part,
    dur_ns,
    part_count,
    piece_times,
    from_ns,
    piece_ns,
    row_number() OVER (PARTITION BY gpu_id ORDER BY part) - 1 AS kind_id
  FROM timeline_path_kinds
  ORDER BY gpu_id, kind_id
),
name AS MATERIALIZED (
  SELECT gpu_id, name, row_number() OVER (PARTITION BY gpu_id ORDER BY name) - 1 AS name_id
  FROM (SELECT DISTINCT gpu_id, name FROM timeline_path_parts WHERE name IS NOT NULL)
  ORDER BY gpu_id, name_id
),
listed AS (
  SELECT
    part.gpu_id,
    part.start_ns - lag(part.start_ns, 1, 0) OVER of_gpu AS start_step,
    part.dur_ns,
    kind.kind_id,
    coalesce(name.name_id, -1) AS name_id
  FROM timeline_path_parts AS part
  JOIN kind
    ON kind.gpu_id = part.gpu_id
    AND kind.part = part.part
  LEFT JOIN name
    ON name.gpu_id = part.gpu_id
    AND name.name = part.name
  WINDOW of_gpu AS (PARTITION BY part.gpu_id ORDER BY part.start_ns, part.rank)
  ORDER BY part.gpu_id, part.start_ns, part.rank
),
packed AS MATERIALIZED (
  SELECT
    gpu_id,
    count(*) AS shown_count,
    json_group_array(start_step) AS start_list,
    json_group_array(dur_ns) AS dur_list,
    json_group_array(kind_id) AS kind_list,
    json_group_array(name_id) AS name_list
  FROM listed
  GROUP BY gpu_id
),
piece AS MATERIALIZED (
  SELECT
    kind.gpu_id,
    group_concat(
      kind.kind_id || ',' || (time.value ->> 1) || ',' || min(1000, 1000 * (time.value ->> 2) / kind.piece_ns)
    ) AS piece_list
  FROM kind
  CROSS JOIN json_each(kind.piece_times) AS time
  GROUP BY kind.gpu_id
)
SELECT
  packed.gpu_id,
  sum(kind.part_count) AS part_count,
  packed.shown_count,
  sum(kind.dur_ns) AS path_ns,
  packed.start_list,
  packed.dur_list,
  packed.kind_list,
  packed.name_list,
  json_group_array(kind.part) AS kind_texts,
  (
    SELECT group_concat(replace(name.name, char(31), ' '), char(31))
    FROM name
    WHERE name.gpu_id = packed.gpu_id
  ) AS name_texts,
  json_group_array(kind.dur_ns) AS kind_sums,
  '[' || coalesce(piece.piece_list, '') || ']' AS piece_list,
  min(kind.from_ns) AS from_ns,
  min(kind.piece_ns) AS piece_ns
FROM packed
JOIN kind
  ON kind.gpu_id = packed.gpu_id
LEFT JOIN piece
  ON piece.gpu_id = packed.gpu_id
GROUP BY packed.gpu_id
ORDER BY packed.gpu_id
