-- Number of operations of each GPU that were launched and have not begun.
WITH
wait AS (
  SELECT coalesce(process_device.gpu_id, gpu_op.device_id) AS gpu_id, nvtx_op.call_start_ns AS from_ns, gpu_op.start_ns AS to_ns
  FROM gpu_op
  JOIN nvtx_op
    ON nvtx_op.op_kind = gpu_op.op_kind
    AND nvtx_op.op_id = gpu_op.op_id
  LEFT JOIN process_device
    ON process_device.global_pid = gpu_op.global_pid
    AND process_device.device_id = gpu_op.device_id
  WHERE nvtx_op.call_start_ns < gpu_op.start_ns
),
step AS (
  SELECT gpu_id, from_ns AS at_ns, 1 AS change FROM wait
  UNION ALL
  SELECT gpu_id, to_ns, -1 FROM wait
),
placed AS (
  SELECT gpu_id, at_ns, sum(change) AS change
  FROM step
  GROUP BY gpu_id, at_ns
)
SELECT gpu_id, 'operations waiting' AS track, at_ns, sum(change) OVER (PARTITION BY gpu_id ORDER BY at_ns) AS value
FROM placed
ORDER BY gpu_id, at_ns
