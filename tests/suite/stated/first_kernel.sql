SELECT part_id, is_first
FROM compute_gap_part
ORDER BY part_id;

WITH
ranked AS (
  SELECT
    op_id,
    row_number() OVER (PARTITION BY kernel.global_pid, kernel.context_id, kernel.name_id ORDER BY op.start_ns, op.end_ns, op_id)
      AS nth
  FROM gpu_overlap AS op
  JOIN kernel
    ON kernel.kernel_id = op.op_id
  WHERE op.op_kind = 'kernel'
)
SELECT part.part_id, ranked.nth = 1
FROM compute_gap_part AS part
LEFT JOIN ranked
  ON ranked.op_id = part.after_id
  AND part.after_kind = 'kernel'
ORDER BY part.part_id;
