/*---
name: file_access
summary: One row per call that opened, closed, read, wrote or inspected a file.
present_if: [src_osrt_file_access]
scope: {time: [start_ns, end_ns]}
reads: [src_osrt_file_access, src_string_id]
columns:
  - {name: access_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: access_kind, type: text, doc: "What the call did: open, close, read, write or metadata; type N for an unknown code N."}
  - {name: function_name, type: text, doc: "Function name, such as read."}
  - {name: name_id, type: id, doc: "ID of function_name; faster to group by than the text."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes read or written; 0 for other calls, and for calls that failed."}
  - {name: file_id, type: id, doc: "The file in opened_file. A file that is opened twice has two IDs."}
  - {name: tid, type: id, doc: "Operating system thread ID of the caller."}
limits: >-
  Only calls of functions that nsys traces count; files that are mapped into memory are read without a call.
---*/
SELECT
  row_id AS access_id,
  startedAt AS start_ns,
  endedAt AS end_ns,
  endedAt - startedAt AS dur_ns,
  CASE eventType
    WHEN 1 THEN 'open'
    WHEN 2 THEN 'close'
    WHEN 3 THEN 'read'
    WHEN 4 THEN 'write'
    WHEN 6 THEN 'metadata'
    ELSE 'type ' || eventType
  END AS access_kind,
  (SELECT value FROM src_string_id WHERE id = apiCallId) AS function_name,
  apiCallId AS name_id,
  max(bytesProcessed, 0) AS size_bytes,
  fileAccessId AS file_id,
  threadId AS tid
FROM src_osrt_file_access
