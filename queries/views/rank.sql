/*---
name: rank
summary: One row per process that is a rank of a distributed program or ran work on a GPU, with its rank.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_mpi_rank, src_nvtx_event]
reads: [export_fact, nccl_call, process_device, src_mpi_communicator, src_mpi_rank]
columns:
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: gpu_id, type: id, doc: "GPU that the process ran work on; the lowest if there are several, null if none."}
  - {name: gpu_count, type: int, unit: count, doc: "GPUs that the process ran work on."}
  - {name: rank, type: int, doc: "Rank in the whole program; null if the capture does not tell."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the whole program; null if the capture does not tell."}
  - {name: source, type: text, doc: "How the rank is known: PyTorch, MPI, or NCCL, whose largest communicator is taken for the whole program; null if the capture does not tell."}
  - {name: communicator_count, type: int, unit: count, doc: "Communicators of NCCL that the process made or freed in the capture."}
limits: >-
  NCCL tells the rank only in calls that make or free a communicator, so the capture must have one of them. The variables
  of the environment, such as RANK or SLURM_PROCID, are not read.
---*/
WITH
member AS (
  SELECT
    pid,
    communicator,
    max(rank) AS rank,
    max(rank_count) AS rank_count,
    row_number() OVER (PARTITION BY pid ORDER BY max(rank_count) DESC, min(start_ns), communicator) AS choice,
    count(*) OVER (PARTITION BY pid) AS communicator_count
  FROM nccl_call
  WHERE rank IS NOT NULL
  GROUP BY pid, communicator
  LIMIT -1
),
mpi AS (
  SELECT globalTid >> 24 & 16777215 AS pid, min(rank) AS rank
  FROM src_mpi_rank
  GROUP BY globalTid >> 24 & 16777215
  LIMIT -1
),
used AS (
  SELECT pid, min(gpu_id) AS gpu_id, count(DISTINCT gpu_id) AS gpu_count
  FROM process_device
  GROUP BY pid
  LIMIT -1
),
torch AS (
  SELECT
    CAST(max(iif(fact = 'DISTRIBUTED_RANK', value, NULL)) AS INTEGER) AS rank,
    CAST(max(iif(fact = 'DISTRIBUTED_WORLD_SIZE', value, NULL)) AS INTEGER) AS rank_count
  FROM export_fact
  WHERE fact IN ('DISTRIBUTED_RANK', 'DISTRIBUTED_WORLD_SIZE')
  LIMIT -1
),
process AS (
  SELECT pid
  FROM used
  UNION
  SELECT pid
  FROM member
  UNION
  SELECT pid
  FROM mpi
  LIMIT -1
)
SELECT
  process.pid,
  used.gpu_id,
  coalesce(used.gpu_count, 0) AS gpu_count,
  coalesce(torch.rank, mpi.rank, member.rank) AS rank,
  CASE
    WHEN torch.rank IS NOT NULL THEN torch.rank_count
    WHEN mpi.rank IS NOT NULL THEN (SELECT max(size) FROM src_mpi_communicator WHERE coalesce(parentHandle, 0) = 0)
    ELSE member.rank_count
  END AS rank_count,
  CASE
    WHEN torch.rank IS NOT NULL THEN 'PyTorch'
    WHEN mpi.rank IS NOT NULL THEN 'MPI'
    WHEN member.rank IS NOT NULL THEN 'NCCL'
  END AS source,
  coalesce(member.communicator_count, 0) AS communicator_count
FROM process
CROSS JOIN torch
LEFT JOIN used
  ON used.pid IS NOT DISTINCT FROM process.pid
LEFT JOIN mpi
  ON mpi.pid = process.pid
LEFT JOIN member
  ON member.pid = process.pid
  AND member.choice = 1
