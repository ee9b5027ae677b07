/*---
name: ucx_sum
version: 1
title: UCX summary
summary: Time and bytes per UCX function, largest total first.
why: To see how much the host communicates through UCX, and with what size of message.
kind: sum
tags: [communication]
reads: [string, ucx_call]
requires: [ucx_call]
columns:
  - {name: ucx_kind, type: text, label: "kind", priority: 1, doc: "Kind of call: submit, progress or other."}
  - {name: ucx_name, type: text, label: "function", priority: 0, doc: "Function name, such as ucp_tag_send_nbx."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations over all threads."}
  - {name: time_pct, type: percent, unit: percent, label: "share of UCX time", priority: 1, doc: "total_ns as a share of all rows."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 2, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 1, doc: "Median duration of a call."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 2, doc: "Longest call."}
  - {name: messages, type: int, unit: count, priority: 1, doc: "Calls with a message size."}
  - {name: total_bytes, type: bytes, unit: bytes, label: "bytes", priority: 1, doc: "Sum of the message sizes; null without messages."}
  - {name: max_bytes, type: bytes, unit: bytes, label: "largest message", priority: 3, doc: "Largest message; null without messages."}
  - {name: peers, type: int, unit: count, priority: 2, doc: "UCP workers at the other end; 0 if unknown."}
checks:
  - calls >= 1 AND messages <= calls
when_empty: "no UCX call ended in the capture"
limits: >-
  A call that submits a message returns before the message is sent, so its time is not that of the message. MPI over UCX
  makes these calls inside MPI calls: do not add up both.
see_also: [mpi_event_sum, mpi_gpu_time_util_map, network_sum]
---*/
WITH
summed AS (
  SELECT
    ucx_kind,
    name_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    max(dur_ns) AS max_ns,
    count(size_bytes) AS messages,
    sum(size_bytes) AS total_bytes,
    max(size_bytes) AS max_bytes,
    count(DISTINCT peer_worker) AS peers
  FROM ucx_call
  GROUP BY ucx_kind, name_id
)
SELECT
  ucx_kind,
  (SELECT text FROM string WHERE string_id = name_id) AS ucx_name,
  calls,
  total_ns,
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  mean_ns,
  median_ns,
  max_ns,
  messages,
  total_bytes,
  max_bytes,
  peers
FROM summed
ORDER BY total_ns DESC, calls DESC, ucx_name, ucx_kind, name_id
