/*---
name: nccl_call
summary: One row per NCCL call that recorded what it does, from the NVTX payloads of NCCL.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_nvtx_event, string]
columns:
  - {name: range_id, type: id, doc: "Row ID of the NVTX range in the raw table."}
  - {name: operation, type: text, doc: "NCCL function without its prefix: AllReduce, Broadcast, Send, CommInitRankConfig and others."}
  - {name: communicator, type: text, doc: "Communicator ID, the same on all of its ranks; null if the call has none."}
  - {name: rank, type: int, doc: "Rank within the communicator; null except in calls that make or free one."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the communicator; null as rank is."}
  - {name: device_id, type: int, doc: "CUDA device of the rank; null as rank is."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Message size: what each rank contributes, of reduce-scatter what each rank gets; null if the call moves nothing."}
  - {name: reduction, type: text, doc: "Reduction, such as Sum; null if there is none."}
  - {name: root, type: int, doc: "Rank that sends a broadcast or gets a reduction; null for other calls."}
  - {name: peer, type: int, doc: "The other rank of a Send or Recv; null for other calls."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  NCCL records payloads from version 2.19 on, and an export has them with --include-json=true, the default of newer
  versions. Calls without a payload, and payloads as raw bytes, are not included.
---*/
WITH
event AS (
  SELECT
    row_id AS range_id,
    coalesce(text, (SELECT text FROM string WHERE string_id = textId)) AS name,
    coalesce(jsonText, (SELECT text FROM string WHERE string_id = jsonTextId)) AS payload,
    start AS start_ns,
    "end" AS end_ns,
    globalTid AS global_tid
  FROM src_nvtx_event
  WHERE eventType IN (59, 60)
    AND coalesce(jsonText, jsonTextId) IS NOT NULL
)
SELECT
  range_id,
  substr(name, 5) AS operation,
  -- As text: the ID is an unsigned 64-bit number.
  payload -> '$."NCCL communicator ID"' AS communicator,
  payload ->> '$.Rank' AS rank,
  payload ->> '$."No. of ranks"' AS rank_count,
  payload ->> '$."CUDA device"' AS device_id,
  payload ->> '$."Message size [bytes]"' AS size_bytes,
  payload ->> '$."Reduction operation"' AS reduction,
  payload ->> '$.Root' AS root,
  payload ->> '$."Peer rank"' AS peer,
  start_ns,
  end_ns,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM event
WHERE name GLOB 'nccl[A-Z]*'
  AND json_valid(payload)
