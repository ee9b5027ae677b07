-- NVTX ranges of each thread, from the first to the last GPU operation that they launched.
SELECT
  NULL AS gpu_id,
  range.global_pid,
  range.global_tid,
  'NVTX on GPU' || coalesce(' ' || nullif(nvtx_name.domain_name, ''), '') AS track,
  range.proj_start_ns AS start_ns,
  range.proj_end_ns AS end_ns,
  'projection' AS category,
  nvtx_name.range_text AS name,
  NULL AS flow_id
FROM nvtx_projection AS range
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = range.name_id
WHERE range.proj_start_ns IS NOT NULL
ORDER BY range.global_tid, track, range.proj_start_ns, range.proj_end_ns DESC, range.depth, range.range_id
