/*---
name: dx12_marker
summary: One row per range of PIX markers of Direct3D 12 on the CPU.
present_if: [src_d3d12_pix]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_d3d12_pix, src_string_id]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table of the call that began the range."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Name of the range."}
  - {name: name_id, type: id, doc: "ID of range_name; faster to group by than the text."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: A range runs from the return of the call that begins it to the start of the call that ends it. A range without an end is left out.
---*/
SELECT
  begin.row_id AS range_id,
  begin."end" AS start_ns,
  close.start AS end_ns,
  close.start - begin."end" AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = begin.textId) AS range_name,
  begin.textId AS name_id,
  begin.globalTid >> 24 & 16777215 AS pid,
  begin.globalTid & 16777215 AS tid,
  begin.globalTid & -16777216 AS global_pid,
  begin.globalTid AS global_tid
FROM src_d3d12_pix AS begin
-- The call that ends a range has its correlation ID and no text.
JOIN src_d3d12_pix AS close
  ON close.correlationId = begin.correlationId
  AND close.globalTid = begin.globalTid
  AND close.textId IS NULL
  AND close.start >= begin."end"
WHERE begin.textId IS NOT NULL
