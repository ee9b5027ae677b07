/*---
name: string
summary: One row per text that the export stores once and refers to by ID.
present_if: [src_string_id]
reads: [src_string_id]
columns:
  - {name: string_id, type: id, doc: "ID of the text, which columns such as name_id hold."}
  - {name: text, type: text, doc: "Text of the string."}
limits: >-
  Your own statements see only the texts that events refer to. To find these, nsq reads the names of all events once.
  Other texts, such as paths and command lines, are hidden from them.
---*/
SELECT id AS string_id, value AS text
FROM src_string_id
