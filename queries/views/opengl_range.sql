/*---
name: opengl_range
summary: One row per range of the OpenGL extension KHR_debug, on the CPU or a GPU.
present_if: [src_khr_debug_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_khr_debug_event, src_string_id]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Message; the ID that the program gave it if it has none."}
  - {name: on_gpu, type: bool, doc: "1 for a range on a GPU, 0 for a range on the CPU."}
  - {name: is_open, type: bool, doc: "1 if the export has no end for the range; end_ns is then the last time of all markers."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS range_id,
  start AS start_ns,
  closed_ns AS end_ns,
  closed_ns - start AS dur_ns,
  coalesce((SELECT value FROM src_string_id WHERE src_string_id.id = textId), CAST(id AS TEXT)) AS range_name,
  eventClass = 63 AS on_gpu,
  "end" IS NULL AS is_open,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM (
  SELECT
    *,
    coalesce("end", (SELECT max(max(start, coalesce("end", start))) FROM src_khr_debug_event)) AS closed_ns
  FROM src_khr_debug_event
)
WHERE eventClass IN (62, 63)
