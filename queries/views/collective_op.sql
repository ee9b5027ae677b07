/*---
name: collective_op
summary: One row per collective on a GPU, with its communicator, its place in it, its size and its kernel.
present_if: [src_nvtx_event, src_cuda_kernel]
reads: [all_kernel, all_nccl_call, kernel, nccl_call, nvtx_op, p2p_op, process_device, string, torch_collective]
columns:
  - {name: communicator, type: text, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group; operation and stream if guessed."}
  - {name: sequence, type: int, doc: "Place among the collectives of the communicator on this GPU, from 0; as PyTorch counts, if its trace records it."}
  - {name: operation, type: text, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another. SendRecv: a kernel of sends and receives without a record, taken for an exchange in which all ranks take part."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "What the rank contributes, of a reduce-scatter what it gets; null if unknown. For a group of calls, the sum."}
  - {name: data_type, type: text, doc: "Type of the elements, such as BFloat16; null except in PyTorch traces."}
  - {name: reduction, type: text, doc: "Reduction, such as Sum; null if there is none, or if unknown."}
  - {name: root, type: int, doc: "Rank that sends a broadcast or gets a reduction; null for other operations, or if unknown."}
  - {name: rank, type: int, doc: "Rank within the communicator; null if unknown."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the communicator; null if unknown."}
  - {name: call_count, type: int, unit: count, doc: "Calls that a group of NCCL joined into this one; 1 outside a group."}
  - {name: source, type: text, doc: "How the communicator and its sequence are known: payload of NCCL, trace of PyTorch, or guess from the order of kernels on a stream."}
  - {name: gpu_id, type: id, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: kernel_id, type: id, doc: "Kernel of the collective; null if there is none in the capture."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the kernel; null without a kernel."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the kernel; null without a kernel."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: range_id, type: id, doc: "Row ID of the call's NVTX range in the raw table; null if unknown."}
  - {name: group_name, type: text, doc: "What the program calls PyTorch's process group, such as mesh_tp; null if not recorded."}
  - {name: role, type: text, doc: "Parallelism that group_name names, as in torch_collective; null if it names none."}
limits: >-
  Recorded sends and receives are in p2p_op. If a process has several ranks of a communicator, a call counts for the rank whose
  device ran the kernel; one without a kernel has no rank. If a group of calls launches several kernels on a device, a
  call has the first one of its operation. Places count in the whole capture, whatever the scope, except in processes with several
  ranks, and where only some calls have payloads.
---*/
-- Places are counted without the scope: a part of the capture has the same ones as the whole.
WITH
member AS MATERIALIZED (
  SELECT global_pid, communicator, rank, max(rank_count) AS rank_count, max(device_id) AS device_id
  FROM all_nccl_call AS nccl_call
  WHERE rank IS NOT NULL
  GROUP BY global_pid, communicator, rank
),
-- A process may have several ranks of a communicator, each on a device of its own.
team AS MATERIALIZED (
  SELECT global_pid, communicator, count(*) AS member_count
  FROM member
  GROUP BY global_pid, communicator
),
-- Calls of one operation in a group are one collective of each rank.
call AS MATERIALIZED (
  SELECT
    min(nccl_call.range_id) AS range_id,
    nccl_call.communicator,
    nccl_call.operation,
    sum(nccl_call.size_bytes) / max(1, min(count(*), max(coalesce(team.member_count, 1)))) AS size_bytes,
    min(nccl_call.reduction) AS reduction,
    min(nccl_call.root) AS root,
    count(*) / max(1, min(count(*), max(coalesce(team.member_count, 1)))) AS call_count,
    max(coalesce(team.member_count, 1)) AS member_count,
    min(nccl_call.start_ns) AS start_ns,
    coalesce(nccl_call.group_id, nccl_call.range_id) AS launched_in,
    nccl_call.pid,
    nccl_call.global_pid
  FROM all_nccl_call AS nccl_call
  LEFT JOIN team
    ON team.global_pid = nccl_call.global_pid
    AND team.communicator = nccl_call.communicator
  WHERE nccl_call.operation IN (
      'AllReduce', 'Broadcast', 'Reduce', 'AllGather', 'ReduceScatter', 'AllToAll', 'Gather', 'Scatter'
    )
    AND nccl_call.communicator IS NOT NULL
  GROUP BY coalesce(nccl_call.group_id, nccl_call.range_id), nccl_call.communicator, nccl_call.operation
),
launched AS (
  SELECT
    call.range_id,
    nvtx_op.op_id AS kernel_id,
    kernel.device_id,
    row_number() OVER (
      PARTITION BY call.range_id, iif(call.member_count > 1, kernel.device_id, NULL)
      ORDER BY coalesce(collective(kernel.kernel_name) = call.operation, 0) DESC, nvtx_op.op_id
    ) AS choice
  FROM nvtx_op
  CROSS JOIN call
  CROSS JOIN all_kernel AS kernel
  WHERE nvtx_op.op_kind = 'kernel'
    AND call.launched_in = nvtx_op.range_id
    AND kernel.kernel_id = nvtx_op.op_id
),
by_payload AS (
  SELECT
    call.communicator,
    row_number() OVER (
      PARTITION BY call.global_pid, call.communicator, iif(call.member_count > 1, launched.device_id, NULL)
      ORDER BY call.start_ns, call.range_id
    ) - 1 AS sequence,
    call.operation,
    -- NCCL records what goes to each rank.
    call.size_bytes * iif(call.operation = 'AllToAll', member.rank_count, 1) AS size_bytes,
    NULL AS data_type,
    call.reduction,
    call.root,
    member.rank,
    member.rank_count,
    call.call_count,
    'payload' AS source,
    launched.kernel_id,
    call.start_ns AS call_start_ns,
    call.pid,
    call.range_id,
    NULL AS group_name,
    NULL AS role
  FROM call
  LEFT JOIN launched
    ON launched.range_id = call.range_id
    AND launched.choice = 1
  LEFT JOIN member
    ON member.global_pid = call.global_pid
    AND member.communicator = call.communicator
    AND (call.member_count = 1 OR member.device_id = launched.device_id)
),
by_trace AS (
  SELECT
    communicator,
    coalesce(
      sequence,
      row_number() OVER (PARTITION BY pid, communicator ORDER BY start_ns, kernel_id) - 1
    ) AS sequence,
    operation,
    size_bytes,
    data_type,
    NULL AS reduction,
    NULL AS root,
    rank,
    rank_count,
    1 AS call_count,
    'trace' AS source,
    kernel_id,
    NULL AS call_start_ns,
    pid,
    NULL AS range_id,
    group_name,
    role
  FROM torch_collective
  WHERE operation NOT IN ('Send', 'Recv')
),
known AS MATERIALIZED (
  SELECT *
  FROM by_payload
  UNION ALL
  SELECT *
  FROM by_trace
),
kind AS MATERIALIZED (
  SELECT name_id, operation
  -- Of all names: a report has far fewer than kernels.
  FROM (SELECT string_id AS name_id, collective(text) AS operation FROM string)
  WHERE operation IN ('AllReduce', 'Broadcast', 'Reduce', 'AllGather', 'ReduceScatter', 'AllToAll')
    -- Where sends and receives are recorded, the kernels are known to be those of pairs.
    OR (operation = 'SendRecv' AND NOT EXISTS (SELECT 1 FROM p2p_op))
),
unknown AS MATERIALIZED (
  SELECT kernel.kernel_id, kernel.start_ns, kernel.pid, kernel.device_id, kernel.stream_id, kind.operation
  FROM all_kernel AS kernel
  CROSS JOIN kind
  WHERE kind.name_id = kernel.name_id
    AND kernel.kernel_id NOT IN (SELECT kernel_id FROM known WHERE kernel_id IS NOT NULL)
),
-- IDs of streams differ between processes, their order does not.
used AS (
  SELECT
    pid,
    device_id,
    stream_id,
    operation,
    row_number() OVER (PARTITION BY pid, device_id, operation ORDER BY min(start_ns), stream_id) AS place
  FROM unknown
  GROUP BY pid, device_id, stream_id, operation
),
by_order AS (
  SELECT
    unknown.operation || ' on stream ' || used.place AS communicator,
    row_number() OVER (
      PARTITION BY unknown.pid, unknown.device_id, unknown.stream_id, unknown.operation
      ORDER BY unknown.start_ns, unknown.kernel_id
    ) - 1 AS sequence,
    unknown.operation,
    unknown.kernel_id,
    unknown.pid
  FROM unknown
  JOIN used
    ON used.pid IS NOT DISTINCT FROM unknown.pid
    AND used.device_id = unknown.device_id
    AND used.stream_id = unknown.stream_id
    AND used.operation = unknown.operation
),
op AS (
  SELECT *
  FROM known
  UNION ALL
  SELECT
    communicator, sequence, operation, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'guess', kernel_id, NULL, pid, NULL, NULL,
    NULL
  FROM by_order
)
SELECT
  op.communicator,
  op.sequence,
  op.operation,
  op.size_bytes,
  op.data_type,
  op.reduction,
  op.root,
  op.rank,
  op.rank_count,
  op.call_count,
  op.source,
  (
    SELECT process_device.gpu_id
    FROM process_device
    WHERE process_device.pid IS NOT DISTINCT FROM kernel.pid
      AND process_device.device_id = kernel.device_id
  ) AS gpu_id,
  op.kernel_id,
  op.call_start_ns,
  kernel.start_ns,
  kernel.end_ns,
  op.pid,
  op.range_id,
  op.group_name,
  op.role
FROM op
LEFT JOIN kernel
  ON kernel.kernel_id = op.kernel_id
WHERE kernel.kernel_id IS NOT NULL
  OR (op.kernel_id IS NULL AND op.range_id IN (SELECT range_id FROM nccl_call))
