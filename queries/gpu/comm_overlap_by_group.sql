/*---
name: comm_overlap_by_group
version: 1
title: Communication by process group
summary: Hidden and exposed communication time of each process group.
why: To see which parallelism costs time - tensor, data, pipeline or expert.
kind: sum
tags: [communication, cuda, gpu]
reads: [collective_op, gpu_overlap, gpu_window, p2p_op, torch_collective]
requires: [kernel, gpu_overlap]
params:
  - {name: by, type: enum, values: [group, role], default: group, doc: "One row for each process group, or for each role."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: role, type: text, priority: 0, doc: "Parallelism that the group's description names: DP (data), TP (tensor), PP (pipeline), EP (expert), CP (context) or SP (sequence), with + between several; null if it names none."}
  - {name: group_name, type: text, label: "group", priority: 0, doc: "What the program calls the group (PyTorch's Process Group Description), such as mesh_tp; null if not recorded, and for by=role."}
  - {name: communicator, type: text, priority: 2, doc: "Name and ranks of PyTorch's process group, or the communicator ID of NCCL; null for kernels of which neither is recorded, and for by=role."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks of the group; null if unknown, and if groups of a role differ."}
  - {name: operations, type: text, label: "collectives", priority: 2, doc: "Its collectives, sends and receives, as recorded; null if not recorded."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of kernels."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 2, doc: "Sum of the sizes of their collectives, as in collective_op, and of sends and receives; null if none is known."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations of the kernels inside the window."}
  - {name: hidden_ns, type: duration, unit: ns, priority: 1, doc: "Part of total_ns in which a compute kernel ran on the same GPU."}
  - {name: exposed_ns, type: duration, unit: ns, label: "exposed time", priority: 1, doc: "Part of total_ns in which no compute kernel ran on the same GPU."}
  - {name: exposed_pct, type: percent, unit: percent, label: "exposed % of total", priority: 1, doc: "exposed_ns as a share of total_ns."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU's exposed time", priority: 1, doc: "exposed_ns as a share of the exposed_ns of all communication on this GPU."}
checks:
  - hidden_ns + exposed_ns = total_ns
  - calls >= 1
when_empty: "no kernel is a collective: there is no communication to overlap"
limits: >-
  All rows add up to comm_overlap. PyTorch records descriptions from version 2.4 on. A role is read from words of the description, such as
  tp or TENSOR; groups without a description of their own, such as default_pg, have none. Custom kernels outside of process groups are in the row without a
  communicator. A kernel that runs calls of several communicators counts for one communicator. If groups communicate at the same
  time, exposed_ns counts each.
see_also: [comm_overlap, communicator_roles, collectives]
---*/
WITH
call AS (
  SELECT kernel_id, communicator, group_name, role, operation, rank_count, size_bytes
  FROM torch_collective
  UNION ALL
  SELECT kernel_id, communicator, NULL, NULL, operation, rank_count, size_bytes
  FROM collective_op
  WHERE source = 'payload'
    AND kernel_id IS NOT NULL
  UNION ALL
  SELECT kernel_id, communicator, NULL, NULL, iif(direction = 'send', 'Send', 'Recv'), rank_count, size_bytes
  FROM p2p_op
  WHERE source = 'payload'
    AND kernel_id IS NOT NULL
),
said AS MATERIALIZED (
  SELECT
    kernel_id,
    min(communicator) AS communicator,
    min(group_name) AS group_name,
    min(role) AS role,
    min(operation) AS operation,
    max(rank_count) AS rank_count,
    sum(size_bytes) AS size_bytes
  FROM call
  GROUP BY kernel_id
),
op AS (
  SELECT
    gpu_overlap.gpu_id,
    said.role,
    iif(:by = 'group', said.group_name, NULL) AS group_name,
    iif(:by = 'group', said.communicator, NULL) AS communicator,
    said.rank_count,
    said.operation,
    said.size_bytes,
    gpu_overlap.in_window_ns,
    gpu_overlap.exposed_ns
  FROM gpu_overlap
  LEFT JOIN said
    ON gpu_overlap.op_kind = 'kernel'
    AND said.kernel_id = gpu_overlap.op_id
  WHERE gpu_overlap.activity = 'communication'
  ORDER BY said.operation
)
SELECT
  gpu_id,
  (SELECT device_id FROM gpu_window WHERE gpu_window.gpu_id = op.gpu_id) AS device_id,
  role,
  group_name,
  communicator,
  iif(min(rank_count) = max(rank_count), min(rank_count), NULL) AS rank_count,
  replace(group_concat(DISTINCT operation), ',', ', ') AS operations,
  count(*) AS calls,
  sum(size_bytes) AS size_bytes,
  sum(in_window_ns) AS total_ns,
  sum(in_window_ns - exposed_ns) AS hidden_ns,
  sum(exposed_ns) AS exposed_ns,
  100.0 * sum(exposed_ns) / nullif(sum(in_window_ns), 0) AS exposed_pct,
  100.0 * sum(exposed_ns) / nullif(sum(sum(exposed_ns)) OVER (PARTITION BY gpu_id), 0) AS share_pct
FROM op
GROUP BY gpu_id, role, group_name, communicator
ORDER BY gpu_id, sum(exposed_ns) DESC, role, group_name, communicator
