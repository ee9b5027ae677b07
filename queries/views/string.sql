/*---
name: string
summary: One row per text that the export keeps once and refers to by number.
present_if: [src_string_id]
reads: [src_string_id]
columns:
  - {name: string_id, type: id, doc: "The number that columns called name_id hold."}
  - {name: text, type: text, doc: "The text."}
limits: Holds whatever the profiler wrote, paths and command lines included; look up single numbers in it.
---*/
SELECT id AS string_id, value AS text
FROM src_string_id
