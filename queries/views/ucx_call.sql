/*---
name: ucx_call
summary: One row per traced UCX call.
present_if: [src_ucp_submit, src_ucp_progress, src_ucp_other]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_ucp_submit, src_ucp_progress, src_ucp_other, src_string_id]
columns:
  - {name: ucx_id, type: id, doc: "Row ID in the raw table of this ucx_kind."}
  - {name: ucx_kind, type: text, doc: "Kind of call: submit, progress or other."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: ucx_name, type: text, doc: "Function name, such as ucp_tag_send_nbx."}
  - {name: name_id, type: id, doc: "ID of ucx_name; faster to group by than the text."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Size of the message; null if the call has none."}
  - {name: peer_worker, type: id, doc: "UCP worker at the other end; null if unknown."}
  - {name: tag, type: int, doc: "Message tag; null if the call has none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: Calls that did not end in the capture are left out.
---*/
SELECT
  ucx_id,
  ucx_kind,
  start_ns,
  end_ns,
  end_ns - start_ns AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = name_id) AS ucx_name,
  name_id,
  size_bytes,
  peer_worker,
  tag,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM (
  SELECT
    row_id AS ucx_id,
    'submit' AS ucx_kind,
    start AS start_ns,
    "end" AS end_ns,
    textId AS name_id,
    packedSize AS size_bytes,
    peerWorkerUid AS peer_worker,
    tag,
    globalTid AS global_tid
  FROM src_ucp_submit
  UNION ALL
  SELECT row_id, 'progress', start, "end", textId, packedSize, peerWorkerUid, tag, globalTid
  FROM src_ucp_progress
  UNION ALL
  SELECT row_id, 'other', start, "end", textId, NULL, NULL, NULL, globalTid
  FROM src_ucp_other
)
WHERE end_ns IS NOT NULL
