SELECT
  gpu_id,
  min(part_start_ns),
  max(part_end_ns),
  sum(dur_ns),
  sum(dur_ns <> part_end_ns - part_start_ns),
  sum(part_start_ns <> before_ns)
FROM (
  SELECT *, lag(part_end_ns, 1, start_ns) OVER (PARTITION BY gpu_id ORDER BY place) AS before_ns
  FROM all_critical_part
)
GROUP BY gpu_id
ORDER BY gpu_id;

SELECT gpu_id, start_ns, end_ns, window_ns, 0, 0
FROM all_gpu_window
WHERE window_ns > 0
ORDER BY gpu_id;
