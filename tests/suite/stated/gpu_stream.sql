SELECT gpu_id, pid, context_id, stream_id, op_count, compute_ns, communication_ns, memory_ns
FROM gpu_stream
WHERE op_count > 0
ORDER BY gpu_id, pid, context_id, stream_id;

SELECT
  gpu_id,
  pid,
  context_id,
  stream_id,
  count(*),
  sum(iif(activity = 'compute', dur_ns, 0)),
  sum(iif(activity = 'communication', dur_ns, 0)),
  sum(iif(activity = 'memory', dur_ns, 0))
FROM gpu_overlap
GROUP BY gpu_id, pid, context_id, stream_id
ORDER BY gpu_id, pid, context_id, stream_id;
