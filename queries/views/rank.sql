/*---
name: rank
summary: One row per process that is a rank of a distributed program or ran work on a GPU, with its rank.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_mpi_rank, src_nvtx_event]
reads: [export_fact, nccl_call, process_device, scope, src_merged_rank, src_mpi_communicator, src_mpi_rank, src_rank_variable]
columns:
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: gpu_id, type: id, doc: "GPU that the process ran work on; the lowest if there are several, null if none."}
  - {name: gpu_count, type: int, unit: count, doc: "GPUs that the process ran work on."}
  - {name: rank, type: int, doc: "Rank in the whole program; null if it was not recorded."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the whole program; null if it was not recorded."}
  - {name: source, type: text, doc: "How the rank is known, the first of: PyTorch; merged trace; MPI; NCCL, whose largest communicator is taken for the whole program; environment of the process that nsys started; file name. Null if unknown."}
  - {name: host, type: text, doc: "Host in the name of the report, as in HOST_PID.TIME.pt.trace.json; null if the name has another form."}
  - {name: host_order, type: text, doc: "host with leading zeros before its numbers, to sort by: node9 comes before node10."}
  - {name: communicator_count, type: int, unit: count, doc: "Communicators of NCCL that the process made or freed in the capture."}
limits: >-
  NCCL records the rank only in calls that make or free a communicator, so the capture must have these. The environment
  is that of the process that nsys started, so it and the file name count only if one process of the report ran work on a
  GPU. The first of these variables counts: RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK,
  MV2_COMM_WORLD_RANK, SLURM_PROCID.
---*/
WITH
member AS MATERIALIZED (
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
),
mpi AS MATERIALIZED (
  SELECT globalTid >> 24 & 16777215 AS pid, min(rank) AS rank
  FROM src_mpi_rank
  GROUP BY globalTid >> 24 & 16777215
),
merged AS MATERIALIZED (
  SELECT globalPid >> 24 & 16777215 AS pid, min(rank) AS rank
  FROM src_merged_rank
  GROUP BY globalPid >> 24 & 16777215
),
used AS MATERIALIZED (
  SELECT pid, min(gpu_id) AS gpu_id, count(DISTINCT gpu_id) AS gpu_count
  FROM process_device
  GROUP BY pid
),
torch AS MATERIALIZED (
  SELECT
    CAST(max(iif(fact = 'DISTRIBUTED_RANK', value, NULL)) AS INTEGER) AS rank,
    CAST(max(iif(fact = 'DISTRIBUTED_WORLD_SIZE', value, NULL)) AS INTEGER) AS rank_count
  FROM export_fact
  WHERE fact IN ('DISTRIBUTED_RANK', 'DISTRIBUTED_WORLD_SIZE')
),
variable AS MATERIALIZED (
  SELECT variable, iif(min(number) = max(number), CAST(min(number) AS INTEGER), NULL) AS number
  FROM (
    SELECT
      substr(said.value, 1, instr(said.value, '=') - 1) AS variable,
      replace(substr(said.value, instr(said.value, '=') + 1), '"', '') AS number
    FROM src_rank_variable AS said
    WHERE said.name GLOB 'PROCESS_[0-9]*:ENVIRONMENT_VARIABLE'
  )
  WHERE NOT (number GLOB '*[^0-9]*')
    AND length(number) BETWEEN 1 AND 7
  GROUP BY variable
),
environment AS MATERIALIZED (
  SELECT
    coalesce(
      max(iif(variable = 'RANK', number, NULL)),
      max(iif(variable = 'OMPI_COMM_WORLD_RANK', number, NULL)),
      max(iif(variable = 'PMIX_RANK', number, NULL)),
      max(iif(variable = 'PMI_RANK', number, NULL)),
      max(iif(variable = 'MV2_COMM_WORLD_RANK', number, NULL)),
      max(iif(variable = 'SLURM_PROCID', number, NULL))
    ) AS rank,
    coalesce(
      max(iif(variable = 'WORLD_SIZE', number, NULL)),
      max(iif(variable = 'OMPI_COMM_WORLD_SIZE', number, NULL)),
      max(iif(variable = 'PMI_SIZE', number, NULL)),
      max(iif(variable = 'MV2_COMM_WORLD_SIZE', number, NULL)),
      max(iif(variable = 'SLURM_NTASKS', number, NULL)),
      max(iif(variable = 'SLURM_NPROCS', number, NULL))
    ) AS rank_count
  FROM variable
),
process AS MATERIALIZED (
  SELECT pid
  FROM used
  UNION
  SELECT pid
  FROM member
  UNION
  SELECT pid
  FROM mpi
  UNION
  SELECT pid
  FROM merged
),
-- The only process on a GPU: to whom the environment and the file name belong.
only AS MATERIALIZED (
  SELECT max(pid) AS pid
  FROM used
  HAVING count(*) = 1
)
SELECT
  process.pid,
  used.gpu_id,
  coalesce(used.gpu_count, 0) AS gpu_count,
  coalesce(
    torch.rank,
    merged.rank,
    mpi.rank,
    member.rank,
    iif(only.pid IS NOT NULL, coalesce(environment.rank, scope.rank), NULL)
  ) AS rank,
  CASE
    WHEN torch.rank IS NOT NULL OR merged.rank IS NOT NULL THEN torch.rank_count
    WHEN mpi.rank IS NOT NULL THEN (SELECT max(size) FROM src_mpi_communicator WHERE coalesce(parentHandle, 0) = 0)
    WHEN member.rank IS NOT NULL THEN member.rank_count
    WHEN only.pid IS NOT NULL AND environment.rank < environment.rank_count THEN environment.rank_count
  END AS rank_count,
  CASE
    WHEN torch.rank IS NOT NULL THEN 'PyTorch'
    WHEN merged.rank IS NOT NULL THEN 'merged trace'
    WHEN mpi.rank IS NOT NULL THEN 'MPI'
    WHEN member.rank IS NOT NULL THEN 'NCCL'
    WHEN only.pid IS NOT NULL AND environment.rank IS NOT NULL THEN 'environment'
    WHEN only.pid IS NOT NULL AND scope.rank IS NOT NULL THEN 'file name'
  END AS source,
  scope.host,
  scope.host_order,
  coalesce(member.communicator_count, 0) AS communicator_count
FROM process
CROSS JOIN torch
CROSS JOIN environment
CROSS JOIN scope
LEFT JOIN only
  ON only.pid = process.pid
LEFT JOIN used
  ON used.pid IS NOT DISTINCT FROM process.pid
LEFT JOIN merged
  ON merged.pid = process.pid
LEFT JOIN mpi
  ON mpi.pid = process.pid
LEFT JOIN member
  ON member.pid = process.pid
  AND member.choice = 1
