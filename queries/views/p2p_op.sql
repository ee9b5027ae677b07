/*---
name: p2p_op
summary: One row per send to or receive from another rank, with its kernel.
present_if: [src_nvtx_event, src_cuda_kernel]
stored: true
reads: [all_kernel, all_nccl_call, kernel, nccl_call, nvtx_op, process_device, torch_collective]
rows_if: "EXISTS (SELECT 1 FROM all_nccl_call WHERE operation IN ('Send', 'Recv')) OR EXISTS (SELECT 1 FROM torch_collective WHERE operation IN ('Send', 'Recv'))"
columns:
  - {name: communicator, type: text, doc: "The same on all of its ranks: the communicator ID of NCCL; name and ranks of PyTorch's process group."}
  - {name: direction, type: text, doc: "send or receive."}
  - {name: rank, type: int, doc: "Rank within the communicator; null if unknown."}
  - {name: peer, type: int, doc: "The other rank within the communicator."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the communicator; null if unknown."}
  - {name: sequence, type: int, doc: "Place among the calls of the process with this communicator, direction and peer, from 0."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "What is sent or received; null if unknown."}
  - {name: source, type: text, doc: "How this is known: payload of NCCL, or trace of PyTorch."}
  - {name: gpu_id, type: id, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: kernel_id, type: id, doc: "Kernel of the call, which runs all calls of its group; null if there is none in the capture."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the kernel; null without a kernel."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the kernel; null without a kernel."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: range_id, type: id, doc: "Row ID of the call's NVTX range in the raw table; null if unknown."}
limits: >-
  Sends and receives without a payload of NCCL or a record of PyTorch are not included, since a kernel does not name its
  peer. PyTorch does not record the rank of a batch of sends and receives. A process that has several ranks of a
  communicator has no rank here.
---*/
-- Places are counted without the scope: a part of the capture has the same ones as the whole.
WITH
member AS MATERIALIZED (
  SELECT
    global_pid,
    communicator,
    iif(min(rank) = max(rank), min(rank), NULL) AS rank,
    max(rank_count) AS rank_count
  FROM all_nccl_call AS nccl_call
  WHERE rank IS NOT NULL
  GROUP BY global_pid, communicator
),
call AS MATERIALIZED (
  SELECT
    range_id,
    communicator,
    iif(operation = 'Send', 'send', 'receive') AS direction,
    peer,
    size_bytes,
    start_ns,
    coalesce(group_id, range_id) AS launched_in,
    pid,
    global_pid,
    row_number() OVER (
      PARTITION BY global_pid, communicator, operation, peer
      ORDER BY start_ns, range_id
    ) - 1 AS sequence
  FROM all_nccl_call AS nccl_call
  WHERE operation IN ('Send', 'Recv')
    AND communicator IS NOT NULL
    AND peer IS NOT NULL
),
launched AS (
  SELECT
    call.range_id,
    nvtx_op.op_id AS kernel_id,
    row_number() OVER (
      PARTITION BY call.range_id
      ORDER BY coalesce(collective(kernel.kernel_name) = 'SendRecv', 0) DESC, nvtx_op.op_id
    ) AS choice
  FROM nvtx_op
  CROSS JOIN call
  CROSS JOIN all_kernel AS kernel
  WHERE nvtx_op.op_kind = 'kernel'
    AND call.launched_in = nvtx_op.range_id
    AND kernel.kernel_id = nvtx_op.op_id
    -- Without calls, the operations need not be attributed.
    AND EXISTS (SELECT 1 FROM call)
),
op AS (
  SELECT
    call.communicator,
    call.direction,
    member.rank,
    call.peer,
    member.rank_count,
    call.sequence,
    call.size_bytes,
    'payload' AS source,
    launched.kernel_id,
    call.start_ns AS call_start_ns,
    call.pid,
    call.range_id
  FROM call
  LEFT JOIN launched
    ON launched.range_id = call.range_id
    AND launched.choice = 1
  LEFT JOIN member
    ON member.global_pid = call.global_pid
    AND member.communicator = call.communicator
  UNION ALL
  SELECT
    communicator,
    iif(operation = 'Send', 'send', 'receive'),
    rank,
    peer,
    rank_count,
    row_number() OVER (
      PARTITION BY pid, communicator, operation, peer
      ORDER BY start_ns, kernel_id
    ) - 1,
    size_bytes,
    'trace',
    kernel_id,
    NULL,
    pid,
    NULL
  FROM torch_collective
  WHERE operation IN ('Send', 'Recv')
)
SELECT
  op.communicator,
  op.direction,
  op.rank,
  op.peer,
  op.rank_count,
  op.sequence,
  op.size_bytes,
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
  op.range_id
FROM op
LEFT JOIN kernel
  ON kernel.kernel_id = op.kernel_id
WHERE kernel.kernel_id IS NOT NULL
  OR (op.kernel_id IS NULL AND op.range_id IN (SELECT range_id FROM nccl_call))
