/*---
name: timeline_names
version: 2
title: Names on the timeline
summary: Each text on the timeline, with the number that stands for it.
why: To store each long name once in a page.
kind: info
tags: [cuda, gpu, nvtx]
internal: true
reads: []
asks: [timeline_pieces, timeline_slices]
across: true
params:
  - {name: pieces, type: int, default: 20, min: 1, max: 10000, doc: "As in timeline_slices."}
  - {name: slices, type: int, default: 400000, min: 1, doc: "As in timeline_slices."}
  - {name: lanes, type: int, default: 160, min: 1, doc: "As in timeline_slices."}
columns:
  - {name: name_id, type: id, label: "#", priority: 0, doc: "Number of the text, from 1 in the order of the texts."}
  - {name: timeline_text, type: text, label: "text", priority: 1, doc: "Name of a slice, of its category, of its launch call, or of the range around this call."}
  - {name: class, type: text, priority: 1, doc: "Class of the kernel, copy or fill of this name, by the class map; null for other names."}
checks:
  - name_id >= 1 AND timeline_text IS NOT NULL
when_empty: "no event is in the scope"
limits: Only names of slices that timeline_slices returns.
see_also: [timeline_slices, timeline_lanes]
---*/
WITH
text AS (
  SELECT slice_name AS timeline_text, lane_kind = 'stream' AS is_op FROM timeline_slices
  UNION
  SELECT category, 0 FROM timeline_pieces
  UNION
  SELECT call_name, 0 FROM timeline_slices
  UNION
  SELECT range_text, 0 FROM timeline_slices
),
merged AS (
  SELECT timeline_text, max(is_op) AS is_op
  FROM text
  WHERE timeline_text IS NOT NULL
  GROUP BY timeline_text
)
SELECT
  row_number() OVER (ORDER BY timeline_text) AS name_id,
  timeline_text,
  iif(is_op, op_class(timeline_text), NULL) AS class
FROM merged
ORDER BY name_id
