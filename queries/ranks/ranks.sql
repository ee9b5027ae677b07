/*---
name: ranks
version: 3
title: Ranks
summary: Each process of a distributed program, with its rank and its GPU.
why: To see which report, process and GPU belongs to which rank.
kind: info
tags: [communication, cuda, gpu]
reads: [gpu, process, rank]
requires: [rank]
columns:
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program; null if it was not recorded."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of the whole program; null if it was not recorded."}
  - {name: source, type: text, label: "rank is known from", priority: 1, doc: "The first of: PyTorch; merged trace; MPI; NCCL, whose largest communicator is taken for the whole program; environment of the process that nsys started; file name. Null if unknown."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID; null if unknown."}
  - {name: process_name, type: text, label: "process", priority: 2, doc: "Name of the process; in a trace merged from several, with what it writes before its processes, such as [TP01-DP00-PP00-EP00]. Null if unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that the process ran work on; the lowest if there are several, null if none."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 1, doc: "GPUs that the process ran work on."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 1, doc: "Marketing name of that GPU; null if unknown."}
  - {name: host, type: text, priority: 3, doc: "Host in the name of the report, as in HOST_PID.TIME.pt.trace.json; null if the name has another form."}
  - {name: host_order, type: text, priority: 3, doc: "host with leading zeros before its numbers, to sort by."}
  - {name: communicator_count, type: int, unit: count, label: "communicators", priority: 1, doc: "Communicators of NCCL that the process made or freed in the capture."}
when_empty: "no process ran work on a GPU"
limits: >-
  NCCL records the rank only in calls that make or free a communicator, so the capture must have these. The
  environment (RANK, SLURM_PROCID and similar variables) and the file name (rank4, TP-1-DP-0-PP-0, or --rank-pattern) count only
  if one process of the report ran work on a GPU. A trace merged from several ranks names the rank if one number of its
  labels (TP, DP, PP, EP) differs in all; otherwise see process_name.
see_also: [collectives, stragglers, rank_balance]
---*/
SELECT
  rank.rank,
  rank.rank_count,
  rank.source,
  rank.pid,
  (SELECT min(process.process_name) FROM process WHERE process.pid = rank.pid) AS process_name,
  rank.gpu_id,
  rank.gpu_count,
  (SELECT max(gpu.gpu_name) FROM gpu WHERE gpu.gpu_id = rank.gpu_id) AS gpu_name,
  rank.host,
  rank.host_order,
  rank.communicator_count
FROM rank
ORDER BY rank.rank IS NULL, rank.rank, rank.pid
