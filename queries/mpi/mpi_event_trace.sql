/*---
name: mpi_event_trace
version: 2
title: MPI event trace
summary: MPI calls with their ranks and sizes, sorted by start.
why: To follow the messages between ranks, and to see which rank waits for which.
kind: trace
tags: [mpi]
reads: [mpi_event]
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the call, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the call."}
  - {name: rank, type: int, priority: 0, doc: "Calling rank in MPI_COMM_WORLD; null if the thread has no rank."}
  - {name: peer_rank, type: int, priority: 1, doc: "Rank at the other end of the message; null if the call has none."}
  - {name: root_rank, type: int, doc: "Root rank of the collective; null if the call has none."}
  - {name: tag, type: int, priority: 3, doc: "Message tag; null if the call has none."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 1, doc: "Message size; null if the call has none."}
  - {name: send_bytes, type: bytes, unit: bytes, label: "collective bytes sent", priority: 1, doc: "Bytes that the rank sends in the collective; null for other calls."}
  - {name: recv_bytes, type: bytes, unit: bytes, label: "collective bytes received", doc: "Bytes that the rank receives in the collective; null for other calls."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: request_handle, type: id, priority: 3, doc: "Request of a non-blocking call, or the request that is waited for; null otherwise."}
  - {name: mpi_kind, type: text, label: "kind", priority: 3, doc: "Kind of call: p2p, collective, start_wait or other."}
  - {name: mpi_name, type: text, label: "MPI function", priority: 0, doc: "Function name, such as MPI_Allreduce."}
checks:
  - dur_ns >= 0
  - mpi_kind IN ('p2p', 'collective', 'start_wait', 'other')
when_empty: "no MPI call was recorded"
limits: >-
  A call that waits for several requests, such as MPI_Waitall, has one row per request, all with the same times. Do not
  add up dur_ns over these rows. MPI_Sendrecv has two rows if the sent and the received message differ, and the row
  of the sent message has no length. Only the thread that initialised MPI has a rank.
see_also: [nvtx_sum, osrt_sum]
nsys:
  title: MPI Event Trace
  lacks:
    - {says: "MPI event data"}
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: End, unit: ts, sql: start_ns + dur_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Event, sql: mpi_name}
    - {name: Pid, sql: pid}
    - {name: Tid, sql: tid}
    - {name: Tag, sql: tag}
    - {name: Rank, sql: rank}
    - {name: PeerRank, sql: peer_rank}
    - {name: RootRank, sql: root_rank}
    - {name: Size, unit: mb, sql: size_bytes}
    - {name: CollSendSize, unit: mb, sql: send_bytes}
    - {name: CollRecvSize, unit: mb, sql: recv_bytes}
---*/
SELECT
  start_ns,
  dur_ns,
  rank,
  peer_rank,
  root_rank,
  tag,
  size_bytes,
  send_bytes,
  recv_bytes,
  pid,
  tid,
  request_handle,
  mpi_kind,
  mpi_name
FROM mpi_event
-- As in NVIDIA's report, rows with the same start come by table, as recorded.
ORDER BY start_ns, instr('p2p start_wait other collective', mpi_kind), mpi_id
