/*---
name: collectives
version: 3
title: Collectives
summary: Each collective of NCCL, with its size, its communicator and its kernel.
why: To see which collective is which, and to match them over ranks.
kind: trace
tags: [communication, gpu, nvtx]
reads: [collective_op]
requires: [collective_op, kernel]
columns:
  - {name: communicator, type: text, priority: 1, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group; operation and stream if guessed."}
  - {name: sequence, type: int, priority: 0, doc: "Place among the collectives of the communicator on this GPU, from 0; as PyTorch counts, if its trace records it."}
  - {name: rank, type: int, priority: 0, doc: "Rank within the communicator; null if unknown."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks of the communicator; null if unknown."}
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another; SendRecv, as in collective_op."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "What the rank contributes, of a reduce-scatter what it gets; null if unknown. For a group of calls, the sum."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 3, doc: "Calls that a group of NCCL joined into this one; 1 outside a group."}
  - {name: data_type, type: text, priority: 2, doc: "Type of the elements, such as BFloat16; null except in PyTorch traces."}
  - {name: reduction, type: text, priority: 2, doc: "Reduction, such as Sum; null if there is none, or if unknown."}
  - {name: root, type: int, priority: 3, doc: "Rank that sends a broadcast or gets a reduction; null for other operations, or if unknown."}
  - {name: source, type: text, priority: 1, doc: "How the communicator and its sequence are known: payload of NCCL, trace of PyTorch, or guess from the order of kernels on a stream."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the report's clock; null without a kernel."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time of the kernel, with the wait for other ranks; null without a kernel."}
  - {name: queued_ns, type: duration, unit: ns, label: "from call to kernel", priority: 2, doc: "From the start of the call to the start of the kernel; null if the call is unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table; null without a kernel."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the call's NVTX range in the raw table; null if unknown."}
  - {name: group_name, type: text, label: "group", priority: 2, doc: "What the program calls PyTorch's process group, such as mesh_tp; null if not recorded."}
  - {name: role, type: text, priority: 2, doc: "Parallelism that group_name names: DP, TP, PP, EP, CP or SP, with + between several; null if it names none."}
when_empty: "no collective was recorded"
limits: >-
  Sizes and communicators need NCCL 2.19 or newer, nsys profile --trace=cuda,nvtx and nsys export --include-json=true, or
  a trace of PyTorch from 2024 on. Sends and receives are not included if NCCL or PyTorch records
  them; else their kernels (SendRecv) are matched by order, too.
see_also: [nccl_sum, collective_arrivals, stragglers]
---*/
SELECT
  communicator,
  sequence,
  rank,
  rank_count,
  operation,
  size_bytes,
  call_count,
  data_type,
  reduction,
  root,
  source,
  start_ns,
  end_ns - start_ns AS dur_ns,
  start_ns - call_start_ns AS queued_ns,
  gpu_id,
  pid,
  kernel_id,
  range_id,
  group_name,
  role
FROM collective_op
ORDER BY coalesce(call_start_ns, start_ns), range_id, kernel_id
