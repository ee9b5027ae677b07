/*---
name: mpi_event
summary: One row per traced MPI call, and one per request for calls that wait for several requests.
present_if: [src_mpi_p2p, src_mpi_collective, src_mpi_start_wait, src_mpi_other]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_mpi_p2p, src_mpi_collective, src_mpi_start_wait, src_mpi_other, src_mpi_rank, src_string_id]
columns:
  - {name: mpi_id, type: id, doc: "Row ID in the raw table of this mpi_kind."}
  - {name: mpi_kind, type: text, doc: "Kind of call: p2p, collective, start_wait or other."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: mpi_name, type: text, doc: "Function name, such as MPI_Allreduce."}
  - {name: tag, type: int, doc: "Message tag; null if the call has none."}
  - {name: rank, type: int, doc: "Calling rank in MPI_COMM_WORLD; null if the thread has no rank."}
  - {name: peer_rank, type: int, doc: "Rank at the other end of the message; null if the call has none."}
  - {name: root_rank, type: int, doc: "Root rank of the collective; null if the call has none."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Message size; null if the call has none."}
  - {name: send_bytes, type: bytes, unit: bytes, doc: "Bytes that the rank sends in the collective; null for other calls."}
  - {name: recv_bytes, type: bytes, unit: bytes, doc: "Bytes that the rank receives in the collective; null for other calls."}
  - {name: request_handle, type: id, doc: "Request of a non-blocking call, or the request that is waited for; null otherwise."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  MPI_Waitall and similar calls have one row per request, all with the same times. Do not add up their durations.
  MPI_Sendrecv has two rows if the sent and the received message differ: the row of the sent message has no length.
---*/
SELECT
  row_id AS mpi_id,
  'p2p' AS mpi_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = textId) AS mpi_name,
  tag AS tag,
  (SELECT min(rank) FROM src_mpi_rank WHERE src_mpi_rank.globalTid = src_mpi_p2p.globalTid) AS rank,
  remoteRank AS peer_rank,
  NULL AS root_rank,
  size AS size_bytes,
  NULL AS send_bytes,
  NULL AS recv_bytes,
  requestHandle AS request_handle,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_mpi_p2p
UNION ALL
SELECT
  row_id AS mpi_id,
  'collective' AS mpi_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = textId) AS mpi_name,
  NULL AS tag,
  (SELECT min(rank) FROM src_mpi_rank WHERE src_mpi_rank.globalTid = src_mpi_collective.globalTid) AS rank,
  NULL AS peer_rank,
  rootRank AS root_rank,
  NULL AS size_bytes,
  size AS send_bytes,
  recvSize AS recv_bytes,
  requestHandle AS request_handle,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_mpi_collective
UNION ALL
SELECT
  row_id AS mpi_id,
  'start_wait' AS mpi_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = textId) AS mpi_name,
  NULL AS tag,
  (SELECT min(rank) FROM src_mpi_rank WHERE src_mpi_rank.globalTid = src_mpi_start_wait.globalTid) AS rank,
  NULL AS peer_rank,
  NULL AS root_rank,
  NULL AS size_bytes,
  NULL AS send_bytes,
  NULL AS recv_bytes,
  requestHandle AS request_handle,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_mpi_start_wait
UNION ALL
SELECT
  row_id AS mpi_id,
  'other' AS mpi_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = textId) AS mpi_name,
  NULL AS tag,
  (SELECT min(rank) FROM src_mpi_rank WHERE src_mpi_rank.globalTid = src_mpi_other.globalTid) AS rank,
  NULL AS peer_rank,
  NULL AS root_rank,
  NULL AS size_bytes,
  NULL AS send_bytes,
  NULL AS recv_bytes,
  NULL AS request_handle,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_mpi_other
