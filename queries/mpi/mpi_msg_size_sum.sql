/*---
name: mpi_msg_size_sum
version: 1
title: MPI message size summary
summary: Bytes per MPI function and direction, largest total first.
why: To see which MPI functions move the data, and in messages of which size.
kind: sum
tags: [mpi, communication]
reads: [mpi_event]
columns:
  - {name: total_bytes, type: bytes, unit: bytes, priority: 1, doc: "Sum of the message sizes over all ranks."}
  - {name: messages, type: int, unit: count, priority: 1, doc: "Number of messages."}
  - {name: mean_bytes, type: bytes, unit: bytes, priority: 1, doc: "Mean size of a message."}
  - {name: median_bytes, type: bytes, unit: bytes, priority: 1, doc: "Median size; the mean of the two middle values if the count is even."}
  - {name: min_bytes, type: bytes, unit: bytes, priority: 3, doc: "Smallest message."}
  - {name: max_bytes, type: bytes, unit: bytes, priority: 3, doc: "Largest message."}
  - {name: stddev_bytes, type: bytes, unit: bytes, priority: 3, doc: "Sample standard deviation of the sizes; 0 for one message."}
  - {name: source, type: text, priority: 0, doc: "p2p, or coll_send and coll_recv for what a rank sends and receives in collectives."}
  - {name: mpi_name, type: text, label: "MPI function", priority: 0, doc: "Function name, such as MPI_Allreduce."}
checks:
  - messages >= 1
  - median_bytes BETWEEN min_bytes AND max_bytes
when_empty: "no MPI call in this report has a message size"
limits: >-
  A message counts where it is sent and where it is received, so totals are not traffic on the network. MPI_Sendrecv counts
  once if the sent and the received message are equal. In a collective, nsys counts what goes to and comes from each rank,
  the calling one included: an MPI_Allreduce of 100 bytes on 4 ranks has 400 bytes in coll_send and 400 in coll_recv on each.
  NVIDIA's report of this name, in versions after 2023.4, was not compared: only its columns are documented.
see_also: [mpi_event_sum, mpi_event_trace]
nsys:
  title: MPI Message Size Summary
  lacks:
    - {says: "MPI event data"}
  columns:
    - {name: Total, unit: mb, sql: total_bytes}
    - {name: Instances, sql: messages}
    - {name: Avg, unit: mb, sql: mean_bytes}
    - {name: Med, unit: mb, sql: median_bytes}
    - {name: Min, unit: mb, sql: min_bytes}
    - {name: Max, unit: mb, sql: max_bytes}
    - {name: StdDev, unit: mb, sql: stddev_bytes}
    - {name: Source, sql: source}
    - {name: Name, sql: mpi_name}
---*/
WITH
message AS (
  SELECT 'p2p' AS source, mpi_name, size_bytes AS bytes
  FROM mpi_event
  WHERE size_bytes IS NOT NULL
  UNION ALL
  SELECT 'coll_send' AS source, mpi_name, send_bytes AS bytes
  FROM mpi_event
  WHERE send_bytes IS NOT NULL
  UNION ALL
  SELECT 'coll_recv' AS source, mpi_name, recv_bytes AS bytes
  FROM mpi_event
  WHERE recv_bytes IS NOT NULL
)
SELECT
  sum(bytes) AS total_bytes,
  count(*) AS messages,
  avg(bytes) AS mean_bytes,
  median(bytes) AS median_bytes,
  min(bytes) AS min_bytes,
  max(bytes) AS max_bytes,
  stddev(bytes) AS stddev_bytes,
  source,
  mpi_name
FROM message
GROUP BY source, mpi_name
ORDER BY total_bytes DESC, messages DESC, mpi_name, source
