/*---
name: video_call
summary: One row per call of NVENC, NVDEC or nvJPEG.
present_if: [src_nvvideo_encoder, src_nvvideo_decoder, src_nvvideo_jpeg]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_nvvideo_encoder, src_nvvideo_decoder, src_nvvideo_jpeg, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table of this api_kind."}
  - {name: api_kind, type: text, doc: "API: Encoder, Decoder or JPEG."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: api_symbol, type: text, doc: "Function name as recorded."}
  - {name: name_id, type: id, doc: "ID of api_symbol; faster to group by than the text."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS call_id,
  'Encoder' AS api_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS api_symbol,
  nameId AS name_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvvideo_encoder
UNION ALL
SELECT
  row_id AS call_id,
  'Decoder' AS api_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS api_symbol,
  nameId AS name_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvvideo_decoder
UNION ALL
SELECT
  row_id AS call_id,
  'JPEG' AS api_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS api_symbol,
  nameId AS name_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_nvvideo_jpeg
