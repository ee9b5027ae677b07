/*---
name: collectives
version: 1
title: Collectives
summary: Each collective of NCCL, with its size, its communicator and its kernel.
why: To see which collective is which, and to match them over ranks.
kind: trace
tags: [communication, gpu, nvtx]
reads: [collective_op]
requires: [collective_op]
columns:
  - {name: communicator, type: text, priority: 1, doc: "Communicator ID, the same on all of its ranks."}
  - {name: sequence, type: int, priority: 0, doc: "Place among the collectives of the communicator in this process, from 0."}
  - {name: rank, type: int, priority: 0, doc: "Rank within the communicator; null if the capture did not see it being made or freed."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks of the communicator; null as rank is."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter or AllToAll."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "What each rank contributes, of a reduce-scatter what each rank gets."}
  - {name: reduction, type: text, priority: 2, doc: "Reduction, such as Sum; null if there is none."}
  - {name: root, type: int, priority: 3, doc: "Rank that sends a broadcast or gets a reduction; null for other operations."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the report's clock; null without a kernel."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time of the kernel, with the wait for other ranks; null without a kernel."}
  - {name: queued_ns, type: duration, unit: ns, label: "from call to kernel", priority: 2, doc: "From the start of the call to the start of the kernel."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the call's NVTX range in the raw table."}
when_empty: "no collective with a payload of NCCL was recorded: NCCL 2.19 or newer, nsys profile --trace=cuda,nvtx, nsys export --include-json=true"
limits: >-
  Only calls that recorded a payload. Calls inside a group of NCCL have no kernel here, because the end of the group
  launches it. Sends and receives are not included.
see_also: [nccl_sum, collective_arrivals, stragglers]
---*/
SELECT
  communicator,
  sequence,
  rank,
  rank_count,
  operation,
  size_bytes,
  reduction,
  root,
  start_ns,
  end_ns - start_ns AS dur_ns,
  start_ns - call_start_ns AS queued_ns,
  gpu_id,
  pid,
  kernel_id,
  range_id
FROM collective_op
ORDER BY call_start_ns, range_id
