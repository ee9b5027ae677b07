-- NVTX ranges of each thread, a track for each domain.
SELECT
  NULL AS gpu_id,
  range.global_pid,
  range.global_tid,
  'NVTX' || coalesce(' ' || nullif(nvtx_name.domain_name, ''), '') AS track,
  range.start_ns,
  range.end_ns,
  'range' AS category,
  nvtx_name.range_text AS name,
  NULL AS flow_id
FROM nvtx_projection AS range
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = range.name_id
ORDER BY range.global_tid, track, range.start_ns, range.end_ns DESC, range.range_id
