-- CUDA API calls of each thread. A call that launched GPU work begins a flow to its first operation.
WITH
launch AS (
  SELECT DISTINCT call_id
  FROM nvtx_op
  WHERE call_id IS NOT NULL
)
SELECT
  NULL AS gpu_id,
  call.global_pid,
  call.global_tid,
  'CUDA API' AS track,
  call.start_ns,
  call.end_ns,
  call.api_kind AS category,
  call.api_name AS name,
  iif(call.call_id IN (SELECT call_id FROM launch), call.call_id, NULL) AS flow_id
FROM cuda_call AS call
ORDER BY call.global_tid, call.start_ns, call.end_ns DESC, call.call_id
