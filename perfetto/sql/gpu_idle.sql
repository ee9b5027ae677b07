-- Idle time of each GPU, by what the thread that feeds it did.
SELECT
  gpu_id,
  NULL AS global_pid,
  NULL AS global_tid,
  'idle' AS track,
  start_ns,
  end_ns,
  'idle' AS category,
  part || coalesce(': ' || api_name, '') AS name,
  NULL AS flow_id
FROM idle_part
ORDER BY gpu_id, start_ns, end_ns DESC, part
