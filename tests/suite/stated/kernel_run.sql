SELECT
  gpu_id,
  start_ns,
  dur_ns,
  before_id,
  before_ns,
  before_name_id,
  after_id,
  after_name_id,
  run_kernels,
  dense_rank() OVER (ORDER BY gpu_id, run) AS run
FROM kernel_run
WHERE longest_ns = 100000
  AND below_ns = 10000
ORDER BY gpu_id, start_ns;

WITH
gap AS MATERIALIZED (
  SELECT gpu_id, start_ns, dur_ns, before_id, before_ns, after_id
  FROM gpu_gap
  WHERE level = 'gpu'
    AND dur_ns < 10000
    AND before_ns < 100000
    AND after_ns < 100000
    AND is_in_stream
    AND before_kind = 'kernel'
    AND after_kind = 'kernel'
),
-- A gap continues a run if the kernel before it is the kernel after another gap.
numbered AS MATERIALIZED (
  SELECT
    *,
    sum(before_id NOT IN (SELECT after_id FROM gap)) OVER (
      PARTITION BY gpu_id
      ORDER BY start_ns
      ROWS UNBOUNDED PRECEDING
    ) AS run
  FROM gap
)
SELECT
  gpu_id,
  start_ns,
  dur_ns,
  before_id,
  before_ns,
  (SELECT name_id FROM kernel WHERE kernel_id = before_id),
  after_id,
  (SELECT name_id FROM kernel WHERE kernel_id = after_id),
  count(*) OVER (PARTITION BY gpu_id, run) + 1,
  dense_rank() OVER (ORDER BY gpu_id, run)
FROM numbered
ORDER BY gpu_id, start_ns;
