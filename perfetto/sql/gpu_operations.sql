-- Kernels, copies, fills and whole CUDA graphs on the streams of each GPU. The first operation of a launch ends its flow.
WITH
first_op AS (
  SELECT call_id, op_kind, op_id, min(start_ns)
  FROM nvtx_op
  WHERE call_id IS NOT NULL
  GROUP BY call_id
),
-- One key, because SQLite would index only the kind.
flow AS (
  SELECT op_kind || ' ' || op_id AS op_key, call_id
  FROM first_op
  LIMIT -1
),
op AS (
  SELECT op_id, op_kind, short_name, start_ns, end_ns, pid, global_pid, device_id, context_id, stream_id
  FROM gpu_op
  UNION ALL
  SELECT graph_trace_id, 'graph', '[CUDA graph]', start_ns, end_ns, pid, global_pid, device_id, context_id, stream_id
  FROM graph_trace
)
SELECT
  coalesce(process_device.gpu_id, op.device_id) AS gpu_id,
  op.global_pid,
  NULL AS global_tid,
  coalesce('stream ' || op.stream_id, 'operations') || coalesce(' (' || named.stream_name || ')', '')
  || coalesce(', context ' || op.context_id, '') || coalesce(', process ' || op.pid, '') AS track,
  op.start_ns,
  op.end_ns,
  op.op_kind AS category,
  op.short_name AS name,
  flow.call_id AS flow_id
FROM op
LEFT JOIN process_device
  ON process_device.global_pid = op.global_pid
  AND process_device.device_id = op.device_id
LEFT JOIN nvtx_stream AS named
  ON named.stream_id = op.stream_id
  AND named.context_id = op.context_id
  AND named.pid = op.pid
LEFT JOIN flow
  ON flow.op_key = op.op_kind || ' ' || op.op_id
ORDER BY gpu_id, op.global_pid, op.context_id, op.stream_id, op.start_ns, op.end_ns DESC, op.op_kind, op.op_id
