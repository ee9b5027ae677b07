-- Memory that was allocated through CUDA and not released, by kind.
SELECT gpu_id, 'memory in use: ' || lower(coalesce(memory_kind, 'unknown kind')) AS track, at_ns, min(used_bytes) AS value
FROM memory_event
GROUP BY gpu_id, memory_kind, at_ns
ORDER BY gpu_id, memory_kind, at_ns
