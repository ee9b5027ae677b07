SELECT gpu_id, gap_start_ns, part, start_ns
FROM idle_part
WHERE is_largest
ORDER BY gpu_id, gap_start_ns;

WITH
place (place, part) AS (
  VALUES
    (1, 'host sync'),
    (2, 'memory allocation'),
    (3, 'other API call'),
    (4, 'outside CUDA API'),
    (5, 'launch call'),
    (6, 'queued'),
    (7, 'unknown')
),
summed AS (
  SELECT gpu_id, gap_start_ns, part, min(start_ns) AS start_ns, sum(dur_ns) AS part_ns
  FROM idle_part
  GROUP BY gpu_id, gap_start_ns, part
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY gpu_id, gap_start_ns ORDER BY part_ns DESC, place) AS nth
  FROM summed
  JOIN place USING (part)
)
SELECT gpu_id, gap_start_ns, part, start_ns
FROM ranked
WHERE nth = 1
ORDER BY gpu_id, gap_start_ns;
