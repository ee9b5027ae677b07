/*---
name: openacc_event
summary: One row per OpenACC event.
present_if: [src_openacc_data, src_openacc_launch, src_openacc_other]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_openacc_data, src_openacc_launch, src_openacc_other, src_string_id]
columns:
  - {name: event_id, type: id, doc: "Row ID in the raw table of this event_kind."}
  - {name: event_kind, type: text, doc: "Kind of event: data, launch or other."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the event, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the event."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: event_name, type: text, doc: "Name of the event, such as Enter Data."}
  - {name: name_id, type: id, doc: "ID of event_name; faster to group by than the text."}
  - {name: file_name, type: text, doc: "Source file of the directive; null if unknown."}
  - {name: file_id, type: id, doc: "ID of file_name; null if unknown."}
  - {name: line, type: int, doc: "Line of the directive."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: Events contain each other, such as a data region its copies. Do not add up their durations.
---*/
SELECT
  row_id AS event_id,
  'data' AS event_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS event_name,
  nameId AS name_id,
  (SELECT value FROM src_string_id WHERE id = srcFile) AS file_name,
  srcFile AS file_id,
  lineNo AS line,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_openacc_data
UNION ALL
SELECT
  row_id AS event_id,
  'launch' AS event_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS event_name,
  nameId AS name_id,
  (SELECT value FROM src_string_id WHERE id = srcFile) AS file_name,
  srcFile AS file_id,
  lineNo AS line,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_openacc_launch
UNION ALL
SELECT
  row_id AS event_id,
  'other' AS event_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS event_name,
  nameId AS name_id,
  (SELECT value FROM src_string_id WHERE id = srcFile) AS file_name,
  srcFile AS file_id,
  lineNo AS line,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_openacc_other
