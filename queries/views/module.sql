/*---
name: module
summary: One row per binary in which a stack has a frame.
present_if: [src_sampling_callchain, src_osrt_callchain]
reads: [src_osrt_callchain, src_sampling_callchain, src_string_id]
columns:
  - {name: module_id, type: id, doc: "ID of the binary, as in cpu_stack and os_stack."}
  - {name: module_name, type: text, doc: "File name of the binary, without its folder; null if unknown."}
---*/
-- A statement that reads no name would count texts, which only a view of texts may.
WITH
path AS MATERIALIZED (
  SELECT id, value
  FROM src_string_id
  WHERE id IN (SELECT module FROM src_sampling_callchain)
    OR id IN (SELECT module FROM src_osrt_callchain)
)
SELECT
  id AS module_id,
  nullif(replace(value, rtrim(value, replace(value, '/', '')), ''), '') AS module_name
FROM path
