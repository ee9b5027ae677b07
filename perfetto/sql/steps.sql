-- The GPU time of each step in the scope's time, in the process that launches it.
SELECT
  NULL AS gpu_id,
  global_tid & ~0xffffff AS global_pid,
  NULL AS global_tid,
  'steps' AS track,
  start_ns,
  end_ns,
  'step' AS category,
  step_name AS name,
  NULL AS flow_id
FROM step
WHERE end_ns >= coalesce((SELECT start_ns FROM scope), end_ns)
  AND start_ns <= coalesce((SELECT end_ns FROM scope), start_ns)
ORDER BY global_pid, start_ns, end_ns DESC, step
