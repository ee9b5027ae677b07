/*---
name: collective_op
summary: One row per collective of NCCL, with its place in the communicator and its kernel.
present_if: [src_nvtx_event]
reads: [kernel, nccl_call, nvtx_op, process_device]
columns:
  - {name: range_id, type: id, doc: "Row ID of the call's NVTX range in the raw table."}
  - {name: communicator, type: text, doc: "Communicator ID, the same on all of its ranks."}
  - {name: sequence, type: int, doc: "Place among the collectives of the communicator in this process, from 0."}
  - {name: operation, type: text, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter or AllToAll."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "What each rank contributes, of a reduce-scatter what each rank gets."}
  - {name: reduction, type: text, doc: "Reduction, such as Sum; null if there is none."}
  - {name: root, type: int, doc: "Rank that sends a broadcast or gets a reduction; null for other operations."}
  - {name: rank, type: int, doc: "Rank of the process within the communicator; null if the capture did not see it being made or freed."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the communicator; null as rank is."}
  - {name: gpu_id, type: id, doc: "GPU that ran the kernel; null without a kernel."}
  - {name: kernel_id, type: id, doc: "Kernel that the call launched; null if there is none in the capture."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the kernel; null without a kernel."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the kernel; null without a kernel."}
  - {name: pid, type: id, doc: "Operating system process ID."}
limits: >-
  Calls inside a group of NCCL have no kernel here, because the end of the group launches it. A process that drives
  several ranks of a communicator is taken for one.
---*/
WITH
member AS (
  SELECT global_pid, communicator, max(rank) AS rank, max(rank_count) AS rank_count
  FROM nccl_call
  WHERE rank IS NOT NULL
  GROUP BY global_pid, communicator
),
call AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_pid, communicator ORDER BY start_ns, range_id) - 1 AS sequence
  FROM nccl_call
  WHERE operation IN ('AllReduce', 'Broadcast', 'Reduce', 'AllGather', 'ReduceScatter', 'AllToAll')
    AND communicator IS NOT NULL
),
launched AS (
  SELECT range_id, min(op_id) AS kernel_id
  FROM nvtx_op
  WHERE op_kind = 'kernel'
    AND range_id IN (SELECT range_id FROM call)
  GROUP BY range_id
)
SELECT
  call.range_id,
  call.communicator,
  call.sequence,
  call.operation,
  call.size_bytes,
  call.reduction,
  call.root,
  member.rank,
  member.rank_count,
  (
    SELECT process_device.gpu_id
    FROM process_device
    WHERE process_device.pid = kernel.pid
      AND process_device.device_id = kernel.device_id
  ) AS gpu_id,
  kernel.kernel_id,
  call.start_ns AS call_start_ns,
  kernel.start_ns,
  kernel.end_ns,
  call.pid
FROM call
LEFT JOIN member
  ON member.global_pid = call.global_pid
  AND member.communicator = call.communicator
LEFT JOIN launched
  ON launched.range_id = call.range_id
LEFT JOIN kernel
  ON kernel.kernel_id = launched.kernel_id
