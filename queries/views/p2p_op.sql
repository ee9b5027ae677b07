/*---
name: p2p_op
summary: One row per send to or receive from another rank, with its kernel.
present_if: [src_nvtx_event, src_cuda_kernel]
reads: [export_fact, kernel, nccl_call, nvtx_op, process_device, src_collective, string]
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
  Sends and receives without a payload of NCCL or a record of PyTorch are not included, since a kernel does not tell its
  peer. PyTorch does not tell the rank of a batch of sends and receives. A process that has several ranks of a
  communicator has no rank here.
---*/
WITH
member AS MATERIALIZED (
  SELECT
    global_pid,
    communicator,
    iif(min(rank) = max(rank), min(rank), NULL) AS rank,
    max(rank_count) AS rank_count
  FROM nccl_call
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
  FROM nccl_call
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
  CROSS JOIN kernel
  WHERE nvtx_op.op_kind = 'kernel'
    AND call.launched_in = nvtx_op.range_id
    AND kernel.kernel_id = nvtx_op.op_id
    -- Without calls, the operations need not be attributed.
    AND EXISTS (SELECT 1 FROM call)
),
traced AS (
  SELECT
    (SELECT text FROM string WHERE string_id = said.groupId) AS group_name,
    (SELECT text FROM string WHERE string_id = said.groupRanksId) AS group_ranks,
    (SELECT text FROM string WHERE string_id = said.typeId) AS data_type,
    iif(said.destination IS NOT NULL, 'send', 'receive') AS direction,
    coalesce(said.destination, said.source) AS peer,
    said.groupSize AS rank_count,
    iif(said.destination IS NOT NULL, said.inElements, coalesce(said.outElements, said.inElements)) AS elements,
    kernel.kernel_id,
    kernel.start_ns,
    kernel.pid
  FROM src_collective AS said
  CROSS JOIN kernel
  WHERE coalesce(said.destination, said.source) IS NOT NULL
    AND kernel.correlation_id = said.correlationId
    AND kernel.start_ns = said.start
    AND kernel.global_pid IS NOT DISTINCT FROM said.globalPid
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
    group_name || ' ' || group_ranks,
    direction,
    (
      SELECT member.key
      FROM json_each(iif(json_valid(group_ranks), group_ranks, '[]')) AS member
      JOIN export_fact
        ON export_fact.fact = 'DISTRIBUTED_RANK'
        AND CAST(export_fact.value AS INTEGER) = member.value
    ),
    peer,
    rank_count,
    row_number() OVER (
      PARTITION BY pid, group_name, group_ranks, direction, peer
      ORDER BY start_ns, kernel_id
    ) - 1,
    elements
    * CASE
        WHEN data_type IN ('Double', 'Long', 'UInt64', 'ComplexFloat') THEN 8
        WHEN data_type IN ('Float', 'Int', 'UInt32') THEN 4
        WHEN data_type IN ('Half', 'BFloat16', 'Short', 'UInt16') THEN 2
        WHEN data_type IN ('Byte', 'Char', 'Bool') OR data_type GLOB 'Float8*' THEN 1
        WHEN data_type = 'ComplexDouble' THEN 16
      END,
    'trace',
    kernel_id,
    NULL,
    pid,
    NULL
  FROM traced
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
