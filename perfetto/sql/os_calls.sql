-- Calls of the C library and of POSIX threads, of each thread.
SELECT
  NULL AS gpu_id,
  global_pid,
  global_tid,
  'OS calls' AS track,
  start_ns,
  end_ns,
  'os' AS category,
  function_name AS name,
  NULL AS flow_id
FROM os_call
ORDER BY global_tid, start_ns, end_ns DESC, call_id
