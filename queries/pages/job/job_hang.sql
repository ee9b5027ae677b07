/*---
name: job_hang
version: 1
title: Who hangs, and who did not come
summary: Each process that waits in a collective, and each that did not launch it.
why: To name the process that the others of a job wait for.
kind: info
internal: true
tags: [communication, cuda, gpu]
reads: []
asks: [after_last_operation, collective_calls]
across: true
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU of the process; null if it uses several, or none."}
  - {name: range_name, type: text, label: "collective", priority: 0, doc: "Function of NCCL, such as ncclAllReduce."}
  - {name: communicator, type: text, priority: 2, doc: "Communicator ID; null without a payload of NCCL."}
  - {name: place, type: int, label: "call", priority: 0, doc: "Place of the collective that waits, from 1, among the calls of its name and communicator."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Calls of that name and communicator in the process."}
  - {name: is_missing, type: bool, label: "missing", priority: 0, doc: "Whether the process launched every call before the one that waits, and not this one."}
  - {name: waits_in, type: text, label: "waits in", priority: 1, doc: "CUDA function in which it waits, or operation of the collective that runs; null if it does not wait."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 1, doc: "As in after_last_operation; null if it does not wait."}
  - {name: start_ns, type: timestamp, unit: ns, label: "since", priority: 1, doc: "When the wait begins, on the clock of its report; null if it does not wait."}
  - {name: report, type: text, priority: 1, doc: "Report of the process."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
when_empty: "no process waits in a collective that another one did not launch"
limits: >-
  Of several collectives that wait, the one with the longest wait. Calls are compared by their number, so all captures
  must begin before the first call, or at the same one. See after_last_operation for what counts as a hang.
see_also: [after_last_operation, collective_calls]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
wait AS MATERIALIZED (
  SELECT side, pid, range_name, communicator, place, waits_in, wait_ns, start_ns
  FROM after_last_operation
  WHERE range_name IS NOT NULL
),
stuck AS (
  SELECT wait.range_name, wait.communicator, wait.place
  FROM wait
  JOIN collective_calls AS call
    ON call.range_name = wait.range_name
    AND (call.communicator IS NOT DISTINCT FROM wait.communicator)
    AND call.call_count = wait.place - 1
  ORDER BY wait.wait_ns DESC, wait.side, wait.pid
  LIMIT 1
)
SELECT
  call.pid,
  call.gpu_id,
  call.range_name,
  call.communicator,
  stuck.place,
  call.call_count,
  call.call_count < stuck.place AS is_missing,
  wait.waits_in,
  wait.wait_ns,
  wait.start_ns,
  call.report,
  call.side
FROM stuck
JOIN collective_calls AS call
  ON call.range_name = stuck.range_name
  AND (call.communicator IS NOT DISTINCT FROM stuck.communicator)
  AND call.call_count >= stuck.place - 1
LEFT JOIN wait
  ON wait.side = call.side
  AND wait.pid = call.pid
  AND wait.range_name = stuck.range_name
  AND (wait.communicator IS NOT DISTINCT FROM stuck.communicator)
  AND wait.place = stuck.place
ORDER BY call.side, call.pid
