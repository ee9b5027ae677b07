/*---
name: nccl_call
summary: One row per call of NCCL, with what it does if NCCL recorded that in an NVTX payload.
stored: true
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [nvtx_payload, src_nvtx_event, string]
rows_if: "EXISTS (SELECT 1 FROM string WHERE text GLOB 'nccl[A-Z]*') OR EXISTS (SELECT 1 FROM src_nvtx_event WHERE text GLOB 'nccl[A-Z]*')"
columns:
  - {name: range_id, type: id, doc: "Row ID of the NVTX range in the raw table."}
  - {name: operation, type: text, doc: "NCCL function without its prefix: AllReduce, Broadcast, Send, GroupEnd, CommInitRankConfig and others."}
  - {name: communicator, type: text, doc: "Communicator ID, the same on all of its ranks; null without a payload, or if the call has none."}
  - {name: rank, type: int, doc: "Rank within the communicator; null except in calls that make or free one."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the communicator; null as rank is."}
  - {name: device_id, type: int, doc: "CUDA device of the rank; null as rank is."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Message size: what each rank contributes, of reduce-scatter what each rank gets, of all-to-all what goes to each rank; null if the call moves nothing, or without a payload."}
  - {name: reduction, type: text, doc: "Reduction, such as Sum; null if there is none."}
  - {name: root, type: int, doc: "Rank that sends a broadcast or gets a reduction; null for other calls."}
  - {name: peer, type: int, doc: "The other rank of a Send or Recv; null for other calls."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: group_id, type: id, doc: "Row ID of the GroupEnd that launches the call; null outside a group, or if the capture does not have it."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  NCCL records payloads from version 2.19 on, and an export has them with --include-json=true, the default of newer
  versions, or with --include-blobs=true.
---*/
WITH
event AS MATERIALIZED (
  SELECT
    row_id AS range_id,
    coalesce(text, (SELECT text FROM string WHERE string_id = textId)) AS name,
    start AS start_ns,
    "end" AS end_ns,
    globalTid AS global_tid
  FROM src_nvtx_event
  WHERE eventType IN (59, 60)
    AND (text GLOB 'nccl[A-Z]*' OR textId IN (SELECT string_id FROM string WHERE text GLOB 'nccl[A-Z]*'))
),
-- Only numbers: the rows of a window are sorted.
nested AS MATERIALIZED (
  SELECT
    range_id,
    global_tid,
    start_ns,
    sum(CASE name WHEN 'ncclGroupStart' THEN 1 WHEN 'ncclGroupEnd' THEN -1 ELSE 0 END) OVER (
      PARTITION BY global_tid
      ORDER BY start_ns, range_id
    ) AS depth,
    name = 'ncclGroupEnd' AS is_end
  FROM event
  WHERE EXISTS (SELECT 1 FROM event WHERE name = 'ncclGroupEnd')
),
-- Groups nest, and the end of the outermost one launches.
counted AS MATERIALIZED (
  SELECT
    range_id,
    global_tid,
    depth,
    is_end AND depth = 0 AS launches,
    sum(is_end AND depth = 0) OVER (PARTITION BY global_tid ORDER BY start_ns DESC, range_id DESC) AS ends_to_come
  FROM nested
),
grouped AS MATERIALIZED (
  SELECT
    range_id,
    iif(
      depth > 0,
      max(iif(launches, range_id, NULL)) OVER (PARTITION BY global_tid, ends_to_come),
      NULL
    ) AS group_id
  FROM counted
),
call AS MATERIALIZED (
  SELECT
    event.range_id,
    substr(event.name, 5) AS operation,
    nvtx_payload.payload,
    event.start_ns,
    event.end_ns,
    grouped.group_id,
    event.global_tid
  FROM event
  LEFT JOIN grouped
    ON grouped.range_id = event.range_id
  LEFT JOIN nvtx_payload
    ON nvtx_payload.range_id = event.range_id
)
SELECT
  range_id,
  operation,
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
  group_id,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM call
