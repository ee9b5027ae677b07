-- Samples of hardware metrics. Each describes the time before it, so its value begins where that time does.
SELECT gpu_id, metric || coalesce(' (' || unit || ')', '') AS track, start_ns AS at_ns, value
FROM gpu_metric_interval
ORDER BY gpu_id, metric_id, start_ns, sample_id
