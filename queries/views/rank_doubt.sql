/*---
name: rank_doubt
summary: One row if other ranks are missing, and one if MPI was not traced.
internal: true
present_if: [rank, mpi_event, process]
reads: [export_fact, mpi_event, nvtx_domain, process, process_device, rank]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  That MPI was not traced shows in the name of a process that starts ranks, such as mpirun.
---*/
WITH
member AS (
  SELECT
    max(count(DISTINCT rank), (SELECT count(*) > 0 FROM export_fact WHERE fact = 'DISTRIBUTED_RANK')) AS here,
    coalesce(
      max(rank),
      (SELECT CAST(max(value) AS INTEGER) FROM export_fact WHERE fact = 'DISTRIBUTED_RANK')
    ) AS last_rank,
    -- A rank without GPU work has no row.
    coalesce(
      max(rank_count),
      (SELECT CAST(max(value) AS INTEGER) FROM export_fact WHERE fact = 'DISTRIBUTED_WORLD_SIZE')
    ) AS ranks
  FROM rank
  WHERE rank IS NOT NULL
),
-- Programs that start the ranks of MPI.
mpi AS (
  SELECT
    (
      SELECT max(name)
      FROM (SELECT replace(process_name, rtrim(process_name, replace(process_name, '/', '')), '') AS name FROM process)
      WHERE name IN ('mpirun', 'mpiexec', 'mpiexec.hydra', 'orted', 'prted', 'prterun')
        OR name GLOB 'hydra_*_proxy'
        OR name GLOB 'hydra_pmi*'
    ) AS launcher,
    EXISTS (SELECT 1 FROM mpi_event) OR EXISTS (SELECT 1 FROM nvtx_domain WHERE domain_name = 'MPI') AS is_traced,
    (SELECT count(DISTINCT pid) FROM process_device) AS processes
)
SELECT
  420 AS priority,
  'note' AS severity,
  'other ranks are missing' AS problem,
  printf(
    'This report shows %s of %d ranks: collectives may wait for the others.',
    iif(here = 1, printf('rank %d only,', last_rank), here),
    ranks
  ) AS detail,
  'nsq run FOLDER -q stragglers with the reports of all ranks' AS remedy
FROM member
WHERE here BETWEEN 1 AND ranks - 1
UNION ALL
SELECT
  420,
  'note',
  'other ranks are missing',
  'This report shows the MPI calls of one process: it may wait in MPI for ranks that are not shown.',
  'nsq run FOLDER -q stragglers with the reports of all ranks'
FROM mpi
WHERE is_traced
  AND processes = 1
  AND (SELECT coalesce(ranks, 0) FROM member) < 2
UNION ALL
SELECT
  410,
  'note',
  'MPI was not traced',
  printf('%s started the program, and no MPI call was recorded: time of the host may be a wait in MPI.', launcher),
  'nsys profile --trace=cuda,nvtx,mpi'
FROM mpi
WHERE launcher IS NOT NULL
  AND NOT is_traced
