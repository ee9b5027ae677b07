/*---
name: diagnostic
summary: One row per message of the profiler about the capture, such as a warning.
present_if: [src_diagnostic_event]
reads: [src_diagnostic_event, src_enum_diagnostic_severity, src_enum_diagnostic_source]
columns:
  - {name: diagnostic_id, type: id, doc: "Row ID in the raw table."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Time of the message; negative if before the session start."}
  - {name: severity, type: text, doc: "Info, Warning, Error or Verbose."}
  - {name: source, type: text, doc: "Component that wrote the message: Injection, Daemon or Analysis."}
  - {name: message, type: text, doc: "Text of the message; null if nsq does not know the message."}
  - {name: pid, type: id, doc: "Operating system process ID of the process that the message is about; null if none."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if the message is about no process."}
limits: >-
  Messages may name files and commands, so only known messages have a text. No scope option filters the rows.
---*/
SELECT
  row_id AS diagnostic_id,
  timestamp AS at_ns,
  (SELECT label FROM src_enum_diagnostic_severity WHERE id = event.severity) AS severity,
  (SELECT label FROM src_enum_diagnostic_source WHERE id = event.source) AS source,
  text AS message,
  nullif(globalPid >> 24 & 16777215, 0) AS pid,
  iif(globalPid >> 24 & 16777215, globalPid, NULL) AS global_pid
FROM src_diagnostic_event AS event
