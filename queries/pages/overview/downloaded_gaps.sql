/*---
name: downloaded_gaps
version: 2
title: What the host does after a download
summary: Idle time outside CUDA after a copy to the host, in long gaps of kernels.
why: To see whether the host works on a result of the GPU, which it cannot do ahead.
kind: sum
internal: true
tags: [gpu, memory]
reads: [all_memcpy, compute_gap_part, idle_part]
requires: [compute_gap_part, idle_part, all_memcpy]
params:
  - {name: least, type: duration, default: 500us, min: 0, doc: "Shortest gap between kernels to count, as in host_work."}
  - {name: scalar, type: bytes, default: 16, min: 0, doc: "Most bytes of a scalar, which decides or is logged."}
columns:
  - {name: is_scalar, type: bool, priority: 0, doc: "1 for downloads of scalars, such as a loss; 0 for larger ones."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Gaps of whole GPUs right after the downloads."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "The middle one of their sizes, each counted once for each interval."}
  - {name: total_ns, type: duration, unit: ns, label: "host time", priority: 1, doc: "Time of the launching threads outside CUDA in these gaps."}
  - {name: host_pct, type: percent, unit: percent, label: "% of host time", priority: 0, doc: "total_ns as a share of their time outside CUDA in all gaps of this length."}
checks:
  - total_ns > 0
limits: Whether the host needs what it has downloaded is not in a report.
see_also: [host_work, longest_gaps]
---*/
WITH
-- Copies may divide a gap between kernels into many short ones.
gap AS MATERIALIZED (
  SELECT DISTINCT gpu_id, gap_start_ns, gap_ns
  FROM compute_gap_part
  WHERE gap_ns >= :least
),
part AS MATERIALIZED (
  SELECT idle_part.gpu_id, idle_part.gap_start_ns, idle_part.dur_ns, all_memcpy.size_bytes
  FROM idle_part
  LEFT JOIN all_memcpy
    ON idle_part.before_kind = 'memcpy'
    AND all_memcpy.memcpy_id = idle_part.before_id
    AND all_memcpy.copy_kind = 2
  WHERE idle_part.part = 'outside CUDA API'
    AND place_of(
      (SELECT time_places(gpu_id, gap_start_ns, gap_start_ns + gap_ns) FROM gap),
      idle_part.gpu_id,
      idle_part.start_ns
    ) IS NOT NULL
)
SELECT
  size_bytes <= :scalar AS is_scalar,
  count(DISTINCT printf('%d %d', gpu_id, gap_start_ns)) AS gap_count,
  CAST(median(size_bytes) AS INTEGER) AS size_bytes,
  sum(dur_ns) AS total_ns,
  100.0 * sum(dur_ns) / nullif((SELECT sum(dur_ns) FROM part), 0) AS host_pct
FROM part
WHERE size_bytes IS NOT NULL
GROUP BY size_bytes <= :scalar
ORDER BY total_ns DESC, is_scalar
