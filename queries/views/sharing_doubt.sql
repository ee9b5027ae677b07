/*---
name: sharing_doubt
summary: One row per GPU that ranks, processes or contexts of other processes share.
internal: true
present_if: [process_device]
reads: [cuda_context, device, gpu, nccl_call, process_device]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  A context is a row if its process uses one GPU alone, and other processes use the GPU of the context. Where the report
  has no GPU for the device of a process, or one list of several GPUs for all processes, processes on one device ordinal
  may use several GPUs, because CUDA_VISIBLE_DEVICES and Slurm renumber the GPUs of each process.
---*/
WITH
-- Ranks of one communicator that the report puts on one GPU, which NCCL does not allow.
shared_rank AS (
  SELECT member.communicator, used.gpu_id, count(DISTINCT member.rank) AS ranks
  FROM nccl_call AS member
  JOIN process_device AS used
    ON used.global_pid = member.global_pid
    AND used.device_id = member.device_id
  WHERE member.rank IS NOT NULL
  GROUP BY member.communicator, used.gpu_id
  HAVING count(DISTINCT member.rank) > 1
),
shared_gpu AS (
  SELECT
    gpu_id,
    count(DISTINCT global_pid) AS processes,
    -- Whether the report has the GPU of each device.
    min(EXISTS (
      SELECT 1
      FROM device
      WHERE device.device_id = used.device_id
        AND (device.pid = used.pid OR device.pid IS NULL AND (SELECT count(*) FROM gpu) = 1)
        AND device.gpu_id IS NOT NULL
    )) AS is_identified
  FROM process_device AS used
  WHERE global_pid IS NOT NULL
  GROUP BY gpu_id
  HAVING count(DISTINCT global_pid) > 1
),
-- Of processes that use one GPU and have a context on another one, which other processes use.
foreign_context AS (
  SELECT DISTINCT context.pid, context.gpu_id
  FROM cuda_context AS context
  WHERE context.pid IN (SELECT pid FROM process_device GROUP BY pid HAVING count(*) = 1)
    AND context.gpu_id IN (SELECT gpu_id FROM process_device WHERE pid <> context.pid)
    AND context.gpu_id NOT IN (SELECT gpu_id FROM process_device WHERE pid = context.pid)
)
SELECT
  130 AS priority,
  'partial' AS severity,
  'ranks that share a GPU' AS problem,
  printf(
    '%d ranks of one NCCL communicator ran on GPU %d. NCCL does not allow this: '
      || 'the report gives several GPUs one number, and figures of this GPU mix them.',
    max(ranks),
    min(gpu_id)
  ) AS detail,
  'one report per rank, or an nsys that records the PCI addresses of GPUs' AS remedy
FROM shared_rank
HAVING count(*) > 0
UNION ALL
SELECT
  131,
  'partial',
  'processes on a GPU that is not identified',
  printf(
    '%d processes ran work on GPU %d, but the report does not identify it: with CUDA_VISIBLE_DEVICES or Slurm, '
      || 'this number is another GPU in each process. Figures of this GPU may mix those of several.',
    processes,
    gpu_id
  ),
  'one report per process, or an nsys that records the PCI addresses of GPUs'
FROM shared_gpu
WHERE NOT is_identified
UNION ALL
SELECT
  310,
  'note',
  'processes share a GPU',
  printf(
    '%d processes ran work on GPU %d: its figures are of all, and one may wait for the work of another.',
    processes,
    gpu_id
  ),
  'nsq run REPORT -q gpu_time --process PID, for each process by itself'
FROM shared_gpu
WHERE is_identified
UNION ALL
SELECT
  310,
  'note',
  'context on the GPU of another process',
  printf(
    'Process %d has a CUDA context on GPU %d, runs nothing there, and other processes use that GPU: '
      || 'it takes their memory, and creating it takes time.',
    pid,
    gpu_id
  ),
  'call torch.cuda.set_device or cudaSetDevice with the local rank before anything else of CUDA'
FROM foreign_context
