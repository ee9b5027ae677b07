/*---
name: mpi_event_trace
version: 1
title: MPI event trace
summary: MPI calls in order of time, with their ranks and sizes.
why: To follow what the ranks say to each other, and which of them waits for which.
kind: trace
tags: [mpi]
reads: [mpi_event]
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Call began, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Time until the call returned."}
  - {name: rank, type: int, doc: "Calling rank in MPI_COMM_WORLD; null for a thread without one."}
  - {name: peer_rank, type: int, doc: "Rank at the other end of a message; null where there is none."}
  - {name: root_rank, type: int, doc: "Root of a collective; null where there is none."}
  - {name: tag, type: int, doc: "Tag of a message; null where there is none."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Size of a message; null where there is none."}
  - {name: send_bytes, type: bytes, unit: bytes, doc: "Bytes that the rank gives to a collective; null otherwise."}
  - {name: recv_bytes, type: bytes, unit: bytes, doc: "Bytes that the rank gets from a collective; null otherwise."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: request_handle, type: id, doc: "Request of a call that does not block, or that is waited for; null otherwise."}
  - {name: mpi_kind, type: text, doc: "p2p, collective, start_wait or other."}
  - {name: mpi_name, type: text, doc: "Name of the function, such as MPI_Allreduce."}
checks:
  - dur_ns >= 0
  - mpi_kind IN ('p2p', 'collective', 'start_wait', 'other')
limits: >-
  A call that waits for several requests, such as MPI_Waitall, is one row per request with equal times, so dur_ns must
  not be added up over such rows. MPI_Sendrecv is two rows where what it sends and receives differ. Only the thread
  that initialised MPI has a rank.
see_also: [nvtx_sum, osrt_sum]
nsys:
  title: MPI Event Trace
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: End, unit: ns, sql: start_ns + dur_ns}
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
ORDER BY start_ns, dur_ns DESC, mpi_kind, mpi_id
