/*---
name: point_to_point
version: 1
title: Sends and receives
summary: Sends to and receives from other ranks, with size and time of their kernels.
why: To see what the stages of a pipeline pass to each other.
kind: trace
tags: [communication, gpu, nvtx]
reads: [p2p_op]
requires: [p2p_op, kernel]
columns:
  - {name: communicator, type: text, priority: 1, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group."}
  - {name: direction, type: text, priority: 0, doc: "send or receive."}
  - {name: rank, type: int, priority: 0, doc: "Rank within the communicator; null if unknown."}
  - {name: peer, type: int, label: "other rank", priority: 0, doc: "The other rank within the communicator."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 2, doc: "Ranks of the communicator; null if unknown."}
  - {name: sequence, type: int, priority: 1, doc: "Place among the calls of the process with this communicator, direction and peer, from 0."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "What is sent or received; null if unknown."}
  - {name: source, type: text, priority: 2, doc: "How this is known: payload of NCCL, or trace of PyTorch."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the report's clock; null without a kernel."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time of the kernel, with the wait for the other rank and with all other calls of its group; null without a kernel."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: kernel_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table; null without a kernel."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the call's NVTX range in the raw table; null if unknown."}
when_empty: "no send or receive says which rank is at the other end"
limits: >-
  Needs the payloads of NCCL (2.19 or newer, nsys profile --trace=cuda,nvtx, nsys export --include-json=true) or a trace
  of PyTorch that names the other rank. Kernels that send and receive without this record are not included.
see_also: [collectives, point_to_point_waits, pipeline_bubbles, nccl_sum]
---*/
SELECT
  communicator,
  direction,
  rank,
  peer,
  rank_count,
  sequence,
  size_bytes,
  source,
  start_ns,
  end_ns - start_ns AS dur_ns,
  gpu_id,
  pid,
  kernel_id,
  range_id
FROM p2p_op
ORDER BY coalesce(call_start_ns, start_ns), range_id, kernel_id, direction, peer
