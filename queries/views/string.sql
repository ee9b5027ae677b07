/*---
name: string
summary: One row per text that the export keeps once and refers to by number.
present_if: [src_string_id]
reads: [src_string_id]
columns:
  - {name: string_id, type: id, doc: "The number that columns called name_id hold."}
  - {name: text, type: text, doc: "The text."}
limits: >-
  To a statement of your own it holds the texts that some event refers to, found out by reading the names of all events
  once. The others are paths, command lines and the like: `nsq sql --allow-environment` shows them.
---*/
SELECT id AS string_id, value AS text
FROM src_string_id
