-- What each GPU waits for or does on the critical path, by part.
SELECT
  gpu_id,
  NULL AS global_pid,
  NULL AS global_tid,
  'critical path' AS track,
  part_start_ns AS start_ns,
  part_end_ns AS end_ns,
  'critical path' AS category,
  part || coalesce(': ' || op_name, '') AS name,
  NULL AS flow_id
FROM critical_part
WHERE part_end_ns > part_start_ns
ORDER BY gpu_id, part_start_ns, part_end_ns DESC, place
