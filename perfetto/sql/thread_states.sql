-- Whether each thread ran on a CPU, was ready to run, or waited.
SELECT
  NULL AS gpu_id,
  global_pid,
  global_tid,
  'state' AS track,
  start_ns,
  end_ns,
  'state' AS category,
  state AS name,
  NULL AS flow_id
FROM thread_state
ORDER BY global_tid, start_ns, end_ns DESC, switch_id
