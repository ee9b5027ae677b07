-- Number of operations that run on each GPU at a time: 0 is idle.
WITH
step AS (
  SELECT global_pid, device_id, start_ns AS at_ns, 1 AS change FROM gpu_op
  UNION ALL
  SELECT global_pid, device_id, end_ns, -1 FROM gpu_op
  UNION ALL
  SELECT global_pid, device_id, start_ns, 1 FROM graph_trace
  UNION ALL
  SELECT global_pid, device_id, end_ns, -1 FROM graph_trace
),
placed AS (
  SELECT coalesce(process_device.gpu_id, step.device_id) AS gpu_id, step.at_ns, sum(step.change) AS change
  FROM step
  LEFT JOIN process_device
    ON process_device.global_pid = step.global_pid
    AND process_device.device_id = step.device_id
  GROUP BY gpu_id, step.at_ns
)
SELECT gpu_id, 'operations running' AS track, at_ns, sum(change) OVER (PARTITION BY gpu_id ORDER BY at_ns) AS value
FROM placed
ORDER BY gpu_id, at_ns
