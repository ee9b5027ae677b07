/*---
name: downloaded_gaps
version: 4
title: What the host does after a download
summary: Idle time outside CUDA after a copy to the host, in long gaps of kernels.
why: To see whether the host works on a result of the GPU, which it cannot do ahead.
kind: sum
internal: true
tags: [gpu, memory]
reads: [all_memcpy, compute_gap_part, exposed_copy, idle_part, launch, memcpy]
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
  - {name: own_pct, type: percent, unit: percent, label: "% of host time by its thread", priority: 1, doc: "Part of total_ns of the thread that launched the download; threads that are unknown count as that one."}
  - {name: download_bytes, type: bytes, unit: bytes, label: "all downloads", priority: 2, doc: "Median bytes of all downloads in a gap with downloads that no kernel hides, at least the median size."}
  - {name: upload_bytes, type: bytes, unit: bytes, label: "upload", priority: 1, doc: "Median bytes that are uploaded in a gap with uploads; 0 without an upload."}
  - {name: upload_pct, type: percent, unit: percent, label: "% of uploaded bytes", priority: 1, doc: "These uploads as a share of all bytes that are uploaded; null if there are none."}
checks:
  - total_ns > 0
limits: >-
  Whether the host needs what it has downloaded is not in a report. An upload that is much larger than the download
  before it, and that has most bytes of all uploads, is likely the next input.
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
  SELECT
    idle_part.gpu_id,
    idle_part.gap_start_ns,
    idle_part.dur_ns,
    idle_part.start_ns,
    idle_part.global_tid,
    all_memcpy.memcpy_id,
    all_memcpy.size_bytes,
    all_memcpy.size_bytes <= :scalar AS is_scalar
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
),
-- Another thread does not work on what this one downloads.
launched AS MATERIALIZED (
  SELECT op_id, global_tid
  -- Launches and copies are not read if no gap follows a download.
  FROM (SELECT 1 FROM part WHERE memcpy_id IS NOT NULL LIMIT 1)
  CROSS JOIN launch
  WHERE op_kind = 'memcpy'
    AND op_id IN (SELECT memcpy_id FROM part)
),
-- What the gaps of each kind download and upload.
copied AS MATERIALIZED (
  SELECT
    is_scalar,
    place,
    sum(iif(direction = 'Host-to-Device', size_bytes, 0)) AS upload_bytes,
    sum(iif(direction = 'Device-to-Host', size_bytes, 0)) AS download_bytes
  FROM (
    SELECT
      part.is_scalar,
      copy.direction,
      copy.size_bytes,
      copy.place,
      row_number() OVER (PARTITION BY part.is_scalar, copy.op_id ORDER BY copy.start_ns) AS nth
    FROM (
      SELECT
        op_id,
        direction,
        size_bytes,
        start_ns,
        place_of(
          (SELECT time_places(gpu_id, gap_start_ns, gap_start_ns + gap_ns) FROM gap),
          gpu_id,
          start_ns
        ) AS place
      FROM (SELECT 1 FROM part WHERE memcpy_id IS NOT NULL LIMIT 1)
      CROSS JOIN exposed_copy
      WHERE direction IN ('Host-to-Device', 'Device-to-Host')
    ) AS copy
    JOIN (
      SELECT DISTINCT
        is_scalar,
        place_of(
          (SELECT time_places(gpu_id, gap_start_ns, gap_start_ns + gap_ns) FROM gap),
          gpu_id,
          start_ns
        ) AS place
      FROM part
      WHERE size_bytes IS NOT NULL
    ) AS part
      ON part.place = copy.place
  )
  WHERE nth = 1
  GROUP BY is_scalar, place
),
-- A large copy once in many gaps is another one.
usual AS MATERIALIZED (
  SELECT
    is_scalar,
    CAST(median(nullif(upload_bytes, 0)) AS INTEGER) AS upload_bytes,
    CAST(median(nullif(download_bytes, 0)) AS INTEGER) AS download_bytes,
    sum(upload_bytes) AS all_upload_bytes
  FROM copied
  GROUP BY is_scalar
)
SELECT
  part.is_scalar,
  count(DISTINCT printf('%d %d', part.gpu_id, part.gap_start_ns)) AS gap_count,
  CAST(median(part.size_bytes) AS INTEGER) AS size_bytes,
  sum(part.dur_ns) AS total_ns,
  100.0 * sum(part.dur_ns) / nullif((SELECT sum(dur_ns) FROM part), 0) AS host_pct,
  100.0 * sum(iif(coalesce(launched.global_tid = part.global_tid, true), part.dur_ns, 0)) / sum(part.dur_ns) AS own_pct,
  max(
    CAST(median(part.size_bytes) AS INTEGER),
    coalesce(usual.download_bytes, 0)
  ) AS download_bytes,
  coalesce(usual.upload_bytes, 0) AS upload_bytes,
  100.0 * coalesce(usual.all_upload_bytes, 0)
    / nullif((SELECT sum(size_bytes) FROM memcpy WHERE copy_kind = 1), 0) AS upload_pct
FROM part
LEFT JOIN launched
  ON launched.op_id = part.memcpy_id
LEFT JOIN usual
  ON usual.is_scalar = part.is_scalar
WHERE part.size_bytes IS NOT NULL
GROUP BY part.is_scalar
ORDER BY total_ns DESC, part.is_scalar
