/*---
name: collective_calls
version: 1
title: Calls of collectives
summary: How often each process called each function of NCCL.
why: To see which process did not call a collective that the others wait in.
kind: info
internal: true
tags: [communication, nvtx]
reads: [all_nccl_call, process_device]
requires: [process_device]
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU of the process; null if it uses several, or none."}
  - {name: range_name, type: text, label: "function", priority: 0, doc: "Function of NCCL, such as ncclAllReduce."}
  - {name: communicator, type: text, priority: 1, doc: "Communicator ID; null without a payload of NCCL."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 0, doc: "Calls of the function with this communicator, in the whole capture."}
when_empty: "NCCL recorded no call"
limits: See after_last_operation.
see_also: [after_last_operation]
---*/
WITH
used AS MATERIALIZED (
  SELECT pid, iif(min(gpu_id) = max(gpu_id), min(gpu_id), NULL) AS gpu_id
  FROM process_device
  GROUP BY pid
),
call AS (
  SELECT pid, operation, communicator, count(*) AS call_count
  FROM all_nccl_call
  WHERE NOT (operation GLOB 'Group*')
  GROUP BY pid, operation, communicator
)
SELECT
  call.pid,
  (SELECT used.gpu_id FROM used WHERE used.pid = call.pid) AS gpu_id,
  'nccl' || call.operation AS range_name,
  call.communicator,
  call.call_count
FROM call
ORDER BY call.pid, call.operation, call.communicator
